// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_RING_H_
#define GPUWHY_INJECT_RING_H_

#include <stddef.h>
#include <stdint.h>

#include "wire/wire.gen.h"

namespace gpuwhy::inject {

uint64_t MonotonicNs();
uint32_t ThreadId();

struct Command {
  uint32_t seq = 0;
  wire::Command kind = wire::Command::kNone;
  uint32_t ms = 0;
  uint32_t records = 0;
};

// The producer's side of one ring file (wire/schema.json). Several threads may write at once: slots are reserved by
// compare-and-swap on `head` and published by storing `seq`. Never waits: a full ring counts a drop.
class Ring {
 public:
  constexpr Ring() = default;

  // Creates SPOOL/<pid>-<start_ticks>-cu.ring with `capacity` records (a power of two). False leaves no file behind.
  bool Create(const char* spool, uint64_t capacity);
  bool ok() const { return base_ != nullptr; }

  template <class Record>
  bool Write(Record* record) {
    record->type = static_cast<uint16_t>(Record::kType);
    return WriteRaw(record, 1);
  }

  // Writes a text as consecutive blob records, all of them or none.
  bool WriteBlob(wire::BlobKind kind, uint32_t id, const char* text, size_t length);

  void SetState(wire::State state);
  wire::State state() const;
  void SetClosed();
  Command ReadCommand() const;
  void Acknowledge(uint32_t seq);

  // False once gpuwhy is gone: its lease is older than 2 s, or 10 s passed and it never saw this ring.
  bool LeaseHeld(uint64_t now_ns) const;

  // Sleeps until command_seq differs from `seen`, Wake() is called or `timeout_ns` passed (0 = no limit).
  void WaitForCommand(uint32_t seen, uint64_t timeout_ns) const;
  void Wake() const;

 private:
  bool WriteRaw(void* records, uint64_t count);
  char* Slot(uint64_t index) const;
  template <class T>
  T* Field(size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

  char* base_ = nullptr;
  uint64_t capacity_ = 0;
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_RING_H_
