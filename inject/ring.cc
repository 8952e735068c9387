// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/ring.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inject/old_glibc.h"
#include "inject/text.h"

namespace gpuwhy::inject {
namespace {

constexpr uint64_t kLeaseNs = 2'000'000'000;
constexpr uint64_t kFirstLeaseNs = 10'000'000'000;
constexpr size_t kPieceBytes = sizeof(wire::Blob::data);

uint64_t WallNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Field 22 of /proc/self/stat; fields are counted from behind the command name, which may hold spaces and brackets.
uint64_t StartTicks() {
  char text[1024];
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = 0;
  const char* p = strrchr(text, ')');
  if (p == nullptr) return 0;
  for (int field = 2; field < 22 && p != nullptr; ++field) p = strchr(p + 1, ' ');
  uint64_t value = 0;
  for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; ++p) value = value * 10 + static_cast<uint64_t>(*p - '0');
  return value;
}

template <class T>
void Put(char* base, size_t offset, T value) {
  memcpy(base + offset, &value, sizeof(value));
}

void FillHeader(char* base, uint64_t capacity, uint64_t ticks) {
  Put(base, wire::kOffsetVersion, wire::kVersion);
  Put(base, wire::kOffsetRecordSize, static_cast<uint32_t>(wire::kRecordSize));
  Put(base, wire::kOffsetCapacity, capacity);
  Put(base, wire::kOffsetPid, static_cast<uint32_t>(getpid()));
  Put(base, wire::kOffsetProducer, static_cast<uint32_t>(wire::Producer::kCuda));
  Put(base, wire::kOffsetStartTicks, ticks);
  Put(base, wire::kOffsetCreatedNs, MonotonicNs());
  Put(base, wire::kOffsetCreatedWallNs, WallNs());
  __atomic_thread_fence(__ATOMIC_RELEASE);
  memcpy(base + wire::kOffsetMagic, wire::kMagic, 8);
}

}  // namespace

uint64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint32_t ThreadId() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

bool Ring::Create(const char* spool, uint64_t capacity) {
  const uint64_t ticks = StartTicks();
  Text<4096> name;
  name.Add(spool).Add("/").AddNumber(static_cast<uint64_t>(getpid())).Add("-").AddNumber(ticks).Add("-cu.ring");
  Text<4096> temporary;
  temporary.Add(name.c_str()).Add(".tmp");
  if (temporary.full()) return false;
  const int fd = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const size_t size = wire::kHeaderSize + capacity * wire::kRecordSize;
  void* map = MAP_FAILED;
  // Blocks first, map second: writing to a hole on a full disk is SIGBUS in the job.
  if (posix_fallocate(fd, 0, static_cast<off_t>(size)) == 0) {
    map = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (map == MAP_FAILED) {
    unlink(temporary.c_str());
    return false;
  }
  FillHeader(static_cast<char*>(map), capacity, ticks);
  if (rename(temporary.c_str(), name.c_str()) != 0) {
    munmap(map, size);
    unlink(temporary.c_str());
    return false;
  }
  capacity_ = capacity;
  base_ = static_cast<char*>(map);
  return true;
}

char* Ring::Slot(uint64_t index) const {
  return base_ + wire::kHeaderSize + (index & (capacity_ - 1)) * wire::kRecordSize;
}

bool Ring::WriteRaw(void* records, uint64_t count) {
  if (base_ == nullptr) return false;
  auto* head = Field<uint64_t>(wire::kOffsetHead);
  uint64_t index = __atomic_load_n(head, __ATOMIC_RELAXED);
  do {
    const uint64_t tail = __atomic_load_n(Field<uint64_t>(wire::kOffsetTail), __ATOMIC_ACQUIRE);
    if (index - tail + count > capacity_) {
      __atomic_fetch_add(Field<uint64_t>(wire::kOffsetDropped), count, __ATOMIC_RELAXED);
      return false;
    }
  } while (!__atomic_compare_exchange_n(head, &index, index + count, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  const uint64_t now = MonotonicNs();
  const uint32_t tid = ThreadId();
  for (uint64_t i = 0; i < count; ++i) {
    auto* common = static_cast<wire::Common*>(records) + i;
    common->time_ns = now;
    common->flags = 0;
    common->tid = tid;
    char* slot = Slot(index + i);
    constexpr size_t kSeq = sizeof(common->seq);
    memcpy(slot + kSeq, reinterpret_cast<const char*>(common) + kSeq, wire::kRecordSize - kSeq);
    __atomic_store_n(reinterpret_cast<uint64_t*>(slot), index + i + 1, __ATOMIC_RELEASE);
  }
  return true;
}

bool Ring::WriteBlob(wire::BlobKind kind, uint32_t id, const char* text, size_t length) {
  constexpr size_t kMostPieces = 128;
  wire::Blob pieces[kMostPieces];
  if (length > kMostPieces * kPieceBytes) length = kMostPieces * kPieceBytes;
  size_t count = 0;
  for (size_t offset = 0; offset < length || count == 0; offset += kPieceBytes) {
    const size_t part = length - offset < kPieceBytes ? length - offset : kPieceBytes;
    wire::Blob& piece = pieces[count++];
    memset(&piece, 0, sizeof(piece));
    piece.type = static_cast<uint16_t>(wire::Type::kBlob);
    piece.id = id;
    piece.kind = static_cast<uint16_t>(kind);
    piece.length = static_cast<uint16_t>(part);
    piece.total = static_cast<uint32_t>(length);
    piece.offset = static_cast<uint32_t>(offset);
    memcpy(piece.data, text + offset, part);
  }
  return WriteRaw(pieces, count);
}

void Ring::SetState(wire::State state) {
  if (base_ != nullptr)
    __atomic_store_n(Field<uint32_t>(wire::kOffsetState), static_cast<uint32_t>(state), __ATOMIC_RELEASE);
}

wire::State Ring::state() const {
  return static_cast<wire::State>(__atomic_load_n(Field<uint32_t>(wire::kOffsetState), __ATOMIC_ACQUIRE));
}

void Ring::SetClosed() {
  if (base_ != nullptr) __atomic_store_n(Field<uint32_t>(wire::kOffsetClosed), 1U, __ATOMIC_RELEASE);
}

Command Ring::ReadCommand() const {
  Command command;
  command.seq = __atomic_load_n(Field<uint32_t>(wire::kOffsetCommandSeq), __ATOMIC_ACQUIRE);
  command.kind = static_cast<wire::Command>(__atomic_load_n(Field<uint32_t>(wire::kOffsetCommand), __ATOMIC_RELAXED));
  command.ms = __atomic_load_n(Field<uint32_t>(wire::kOffsetCommandMs), __ATOMIC_RELAXED);
  command.records = __atomic_load_n(Field<uint32_t>(wire::kOffsetCommandRecords), __ATOMIC_RELAXED);
  return command;
}

void Ring::Acknowledge(uint32_t seq) { __atomic_store_n(Field<uint32_t>(wire::kOffsetAckSeq), seq, __ATOMIC_RELEASE); }

bool Ring::LeaseHeld(uint64_t now_ns) const {
  const uint64_t lease = __atomic_load_n(Field<uint64_t>(wire::kOffsetLeaseNs), __ATOMIC_ACQUIRE);
  const uint64_t created = *Field<uint64_t>(wire::kOffsetCreatedNs);
  return lease == 0 ? now_ns < created + kFirstLeaseNs : now_ns < lease + kLeaseNs;
}

void Ring::WaitForCommand(uint32_t seen, uint64_t timeout_ns) const {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000);
  limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
  // Not FUTEX_PRIVATE: the waker is another process.
  syscall(SYS_futex, Field<uint32_t>(wire::kOffsetCommandSeq), FUTEX_WAIT, seen, timeout_ns != 0 ? &limit : nullptr,
          nullptr, 0);
}

void Ring::Wake() const {
  syscall(SYS_futex, Field<uint32_t>(wire::kOffsetCommandSeq), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace gpuwhy::inject
