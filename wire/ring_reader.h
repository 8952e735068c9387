// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WIRE_RING_READER_H_
#define GPUWHY_WIRE_RING_READER_H_

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "wire/wire.gen.h"

namespace gpuwhy::wire {

// More records than any producer asks for; bounds what a forged header can make us map (1 GB).
inline constexpr uint64_t kMaxCapacity = uint64_t{1} << 24;

// A record as one of the structs of the schema. `record` is our own copy, so its content cannot change underneath.
template <class T>
T As(const Common& record) {
  static_assert(sizeof(T) == sizeof(Common));
  T out;
  memcpy(&out, &record, sizeof out);
  return out;
}

// gpuwhy's side of one ring file (wire/schema.json, docs/witnesses/rings.md). The memory is shared with a process that
// may be broken or hostile: the header is checked once and kept as a copy, every record is copied out before use, every
// loop is bounded by the capacity, and the file's size is asked before each access (a page behind the end is a SIGBUS).
class RingReader {
 public:
  enum class Mode {
    kDrain,   // reads and frees: exactly one reader a ring
    kObserve  // looks on with a cursor of its own and changes nothing; may be overtaken, which is counted
  };

  // nullptr with the reason in `why` ("not a ring", "version 2, this gpuwhy reads 1", ...).
  static std::unique_ptr<RingReader> Open(const std::string& path, Mode mode, std::string* why) {
    std::unique_ptr<RingReader> ring(new RingReader(mode));
    *why = ring->Map(path);
    return why->empty() ? std::move(ring) : nullptr;
  }
  ~RingReader() {
    if (base_ != nullptr) munmap(base_, size_);
    if (fd_ >= 0) close(fd_);
  }
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  // Hands complete records to visit(const Common&), in order, at most one ring full a call. A record that was reserved
  // but not completed stops the drain, for its writer may be at it; once the writer is gone it is skipped and counted.
  // Returns how many records were visited.
  template <class Visit>
  size_t Drain(Visit&& visit, bool writer_gone = false) {
    if (!Intact()) return 0;
    size_t visited = 0;
    uint64_t turns = 0;
    const uint64_t head = head_index();
    while (turns < capacity_) {
      Common record;
      const uint64_t seq = CopySlot(cursor_, &record);
      if (seq == cursor_ + 1) {
        ++cursor_;
        ++turns;
        ++visited;
        visit(static_cast<const Common&>(record));
      } else if (mode_ == Mode::kObserve && head - cursor_ > capacity_ && head > cursor_) {
        lost_ += head - capacity_ - cursor_;
        cursor_ = head - capacity_;
      } else if (writer_gone && head > cursor_ && head - cursor_ <= capacity_) {
        ++cursor_;
        ++turns;
        ++skipped_;
      } else {
        break;
      }
      // Room is given back in portions, so that a fast writer never waits for the whole ring.
      if ((cursor_ & 1023) == 0) FreeRead();
    }
    FreeRead();
    return visited;
  }

  // Tells the producer that gpuwhy lives (CLOCK_MONOTONIC).
  void KeepLease(uint64_t now_ns) {
    if (mode_ == Mode::kDrain && Intact()) Store<uint64_t>(kOffsetLeaseNs, now_ns);
  }

  // Asks for something and wakes whoever sleeps on the control page. Returns the number that ack_seq will reach; 0 =
  // the ring cannot be written.
  uint32_t Send(Command command, uint32_t milliseconds, uint32_t records) {
    if (mode_ != Mode::kDrain || !Intact()) return 0;
    Store<uint32_t>(kOffsetCommand, static_cast<uint32_t>(command));
    Store<uint32_t>(kOffsetCommandMs, milliseconds);
    Store<uint32_t>(kOffsetCommandRecords, records);
    ++command_seq_;
    if (command_seq_ == 0) command_seq_ = 1;
    Store<uint32_t>(kOffsetCommandSeq, command_seq_);
    syscall(SYS_futex, base_ + kOffsetCommandSeq, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    return command_seq_;
  }

  // The producer's words, read now. A ring that shrank answers the last resort: detached, closed, nothing dropped.
  State state() { return Intact() ? static_cast<State>(Load<uint32_t>(kOffsetState)) : State::kDetached; }
  uint32_t ack_seq() { return Intact() ? Load<uint32_t>(kOffsetAckSeq) : 0; }
  uint64_t steps() { return Intact() ? Load<uint64_t>(kOffsetSteps) : 0; }
  uint64_t dropped() { return Intact() ? Load<uint64_t>(kOffsetDropped) : 0; }
  bool closed() { return !Intact() || Load<uint32_t>(kOffsetClosed) != 0; }
  uint64_t head_index() { return Intact() ? Load<uint64_t>(kOffsetHead) : 0; }
  // Nothing more to visit at this moment.
  bool Empty() {
    Common record;
    return !Intact() || (CopySlot(cursor_, &record) != cursor_ + 1 && head_index() <= cursor_);
  }
  // False once the file became smaller than its header said: nothing in it is touched any more.
  bool Intact() {
    struct stat now;
    if (!broken_ && (fstat(fd_, &now) != 0 || now.st_size < static_cast<off_t>(size_))) broken_ = true;
    return !broken_;
  }

  // Copies of the header, as they were when the ring was opened.
  uint32_t pid() const { return pid_; }
  Producer producer() const { return producer_; }
  uint64_t start_ticks() const { return start_ticks_; }
  uint64_t created_ns() const { return created_ns_; }
  uint64_t capacity() const { return capacity_; }
  // Records that their dead writer had reserved and never completed.
  uint64_t skipped() const { return skipped_; }
  // Records that an observer came too late for.
  uint64_t lost() const { return lost_; }

 private:
  explicit RingReader(Mode mode) : mode_(mode) {}

  std::string Map(const std::string& path) {
    const bool drains = mode_ == Mode::kDrain;
    // No O_CREAT, no link to elsewhere, and a FIFO must not make us wait.
    fd_ = open(path.c_str(), (drains ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd_ < 0) return std::string("cannot open: ") + strerror(errno);
    struct stat now;
    if (fstat(fd_, &now) != 0 || !S_ISREG(now.st_mode)) return "not a regular file";
    if (now.st_size < static_cast<off_t>(kHeaderSize)) return "shorter than a ring's header";
    std::string why = CheckHeader(static_cast<uint64_t>(now.st_size));
    if (!why.empty()) return why;
    void* const map = mmap(nullptr, size_, drains ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd_, 0);
    if (map == MAP_FAILED) return std::string("cannot map: ") + strerror(errno);
    base_ = static_cast<char*>(map);
    const uint64_t head = Load<uint64_t>(kOffsetHead);
    const uint64_t tail = Load<uint64_t>(kOffsetTail);
    // A reader before us may have freed records; an index beyond head would make us wait for ever, so it is not
    // believed.
    cursor_ = drains && tail <= head ? tail : 0;
    if (head - cursor_ > capacity_) cursor_ = head - capacity_;
    command_seq_ = Load<uint32_t>(kOffsetCommandSeq);
    return "";
  }

  // Reads the header with pread, so that nothing is mapped before it is known to be sound.
  std::string CheckHeader(uint64_t file_size) {
    char header[kOffsetCreatedNs + 8];
    if (pread(fd_, header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return "the header cannot be read";
    const auto field = [&header](size_t offset, auto* out) { memcpy(out, header + offset, sizeof *out); };
    if (memcmp(header + kOffsetMagic, kMagic, 8) != 0) return "not a ring: no magic";
    uint32_t version = 0, record_size = 0, producer = 0;
    field(kOffsetVersion, &version);
    field(kOffsetRecordSize, &record_size);
    field(kOffsetCapacity, &capacity_);
    field(kOffsetPid, &pid_);
    field(kOffsetProducer, &producer);
    field(kOffsetStartTicks, &start_ticks_);
    field(kOffsetCreatedNs, &created_ns_);
    if (version != kVersion)
      return "version " + std::to_string(version) + ", this gpuwhy reads " + std::to_string(kVersion);
    if (record_size != kRecordSize) return "records of " + std::to_string(record_size) + " bytes";
    if (capacity_ == 0 || (capacity_ & (capacity_ - 1)) != 0 || capacity_ > kMaxCapacity)
      return "a capacity that no ring has";
    if (producer != static_cast<uint32_t>(Producer::kPython) && producer != static_cast<uint32_t>(Producer::kCuda)) {
      return "unknown producer " + std::to_string(producer);
    }
    if (pid_ == 0 || pid_ > INT_MAX) return "a process id that no process has";
    producer_ = static_cast<Producer>(producer);
    size_ = kHeaderSize + capacity_ * kRecordSize;
    return file_size < size_ ? "shorter than its capacity says" : "";
  }

  // Word by word: the slot may be written at the same time when the other side breaks the protocol, and then any mix of
  // words is possible, but no more than that. Returns the sequence number seen before the rest was read.
  uint64_t CopySlot(uint64_t index, Common* out) const {
    const char* const slot = base_ + kHeaderSize + (index & (capacity_ - 1)) * kRecordSize;
    const auto* const words = reinterpret_cast<const uint64_t*>(slot);
    uint64_t copy[kRecordSize / 8];
    copy[0] = __atomic_load_n(&words[0], __ATOMIC_ACQUIRE);
    if (copy[0] == index + 1) {
      for (size_t i = 1; i < kRecordSize / 8; ++i) copy[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
      memcpy(out, copy, sizeof *out);
    }
    return copy[0];
  }

  void FreeRead() {
    if (mode_ == Mode::kDrain) Store<uint64_t>(kOffsetTail, cursor_);
  }
  template <class T>
  T Load(size_t offset) const {
    return __atomic_load_n(reinterpret_cast<const T*>(base_ + offset), __ATOMIC_ACQUIRE);
  }
  template <class T>
  void Store(size_t offset, T value) {
    __atomic_store_n(reinterpret_cast<T*>(base_ + offset), value, __ATOMIC_RELEASE);
  }

  const Mode mode_;
  int fd_ = -1;
  char* base_ = nullptr;
  size_t size_ = 0;
  bool broken_ = false;
  uint64_t capacity_ = 0, cursor_ = 0, skipped_ = 0, lost_ = 0;
  uint32_t pid_ = 0;
  Producer producer_ = Producer::kPython;
  uint64_t start_ticks_ = 0, created_ns_ = 0;
  uint32_t command_seq_ = 0;
};

}  // namespace gpuwhy::wire

#endif  // GPUWHY_WIRE_RING_READER_H_
