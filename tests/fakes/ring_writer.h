// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_FAKES_RING_WRITER_H_
#define GPUWHY_TESTS_FAKES_RING_WRITER_H_

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "wire/ring_spool.h"

namespace gpuwhy::fakes {

inline uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// A folder of its own that goes away with the test.
class TempFolder {
 public:
  TempFolder() {
    char name[] = "/tmp/gpuwhy-ring-test-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TempFolder() { (void)!system(("rm -rf '" + path_ + "'").c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The producer's side of a ring, by the rules of wire/schema.json: reserve, fill, publish by `seq`. One thread writes.
class RingWriter {
 public:
  RingWriter(const std::string& folder, wire::Producer producer, uint64_t capacity = 1024, uint32_t pid = 0,
             uint64_t ticks = 0)
      : capacity_(capacity), size_(wire::kHeaderSize + capacity * wire::kRecordSize) {
    pid = pid != 0 ? pid : static_cast<uint32_t>(getpid());
    ticks = ticks != 0 ? ticks : wire::StartTicks(pid);
    const char* const suffix = producer == wire::Producer::kPython ? "-py.ring" : "-cu.ring";
    path_ = folder + "/" + std::to_string(pid) + "-" + std::to_string(ticks) + suffix;
    const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_TRUNC, 0600);
    if (fd < 0 || posix_fallocate(fd, 0, static_cast<off_t>(size_)) != 0) abort();
    base_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
    Put<uint32_t>(wire::kOffsetVersion, wire::kVersion);
    Put<uint32_t>(wire::kOffsetRecordSize, wire::kRecordSize);
    Put<uint64_t>(wire::kOffsetCapacity, capacity);
    Put<uint32_t>(wire::kOffsetPid, pid);
    Put<uint32_t>(wire::kOffsetProducer, static_cast<uint32_t>(producer));
    Put<uint64_t>(wire::kOffsetStartTicks, ticks);
    memcpy(base_, wire::kMagic, 8);
  }
  ~RingWriter() { munmap(base_, size_); }
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;

  template <class Record>
  bool Write(Record record) {
    const uint64_t head = Get<uint64_t>(wire::kOffsetHead);
    if (head - Get<uint64_t>(wire::kOffsetTail) >= capacity_) {
      Put<uint64_t>(wire::kOffsetDropped, Get<uint64_t>(wire::kOffsetDropped) + 1);
      return false;
    }
    Put<uint64_t>(wire::kOffsetHead, head + 1);
    record.type = static_cast<uint16_t>(Record::kType);
    if (record.time_ns == 0) record.time_ns = NowNs();
    char* const slot = base_ + wire::kHeaderSize + (head & (capacity_ - 1)) * wire::kRecordSize;
    memcpy(slot + 8, reinterpret_cast<const char*>(&record) + 8, wire::kRecordSize - 8);
    __atomic_store_n(reinterpret_cast<uint64_t*>(slot), head + 1, __ATOMIC_RELEASE);
    return true;
  }

  // Takes a slot and never fills it, like a writer that dies there.
  void ReserveOnly() { Put<uint64_t>(wire::kOffsetHead, Get<uint64_t>(wire::kOffsetHead) + 1); }

  uint32_t Blob(wire::BlobKind kind, const std::string& text, uint32_t id = 0) {
    id = id != 0 ? id : ++blob_id_;
    size_t offset = 0;
    do {
      wire::Blob piece{};
      piece.id = id;
      piece.kind = static_cast<uint16_t>(kind);
      piece.length = static_cast<uint16_t>(std::min(text.size() - offset, sizeof piece.data));
      piece.total = static_cast<uint32_t>(text.size());
      piece.offset = static_cast<uint32_t>(offset);
      memcpy(piece.data, text.data() + offset, piece.length);
      Write(piece);
      offset += piece.length;
    } while (offset < text.size());
    return id;
  }

  template <class T>
  void Put(size_t offset, T value) {
    __atomic_store_n(reinterpret_cast<T*>(base_ + offset), value, __ATOMIC_RELEASE);
  }
  template <class T>
  T Get(size_t offset) const {
    return __atomic_load_n(reinterpret_cast<const T*>(base_ + offset), __ATOMIC_ACQUIRE);
  }
  void SetState(wire::State state) { Put<uint32_t>(wire::kOffsetState, static_cast<uint32_t>(state)); }
  // Takes the command that waits, as an agent does.
  wire::Command TakeCommand() {
    Put<uint32_t>(wire::kOffsetAckSeq, Get<uint32_t>(wire::kOffsetCommandSeq));
    return static_cast<wire::Command>(Get<uint32_t>(wire::kOffsetCommand));
  }
  char* base() { return base_; }
  size_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  uint64_t capacity_;
  size_t size_;
  std::string path_;
  char* base_ = nullptr;
  uint32_t blob_id_ = 0;
};

}  // namespace gpuwhy::fakes

#endif  // GPUWHY_TESTS_FAKES_RING_WRITER_H_
