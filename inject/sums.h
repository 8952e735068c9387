// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_SUMS_H_
#define GPUWHY_INJECT_SUMS_H_

#include <stddef.h>
#include <stdint.h>

namespace gpuwhy::inject {

class Ring;

// Time covered by at least one of many intervals of one device, in nanoseconds. Fixed memory: a full list is sorted and
// merged in place, and if that frees nothing the two halves are closed into what they cover.
class BusyUnion {
 public:
  void Add(uint64_t start, uint64_t end);
  uint64_t Take();  // total since the last call, and empties the list

 private:
  static constexpr size_t kMost = 16384;
  struct Interval {
    uint64_t start;
    uint64_t end;
  };
  void Merge();
  static void Sort(Interval* items, size_t count);

  Interval items_[kMost];
  size_t count_ = 0;
  uint64_t closed_ns_ = 0;
};

// Permanent tracing: totals per kernel name and per kind of copy over one interval. The caller holds the conversion
// lock.
class Sums {
 public:
  void AddKernel(uint32_t name, uint32_t device, uint64_t start, uint64_t end);
  void AddCopy(uint32_t device, uint8_t kind, uint8_t source, uint8_t target, uint64_t bytes, uint64_t duration);
  // Writes kernel_sum and memcpy_sum records and starts the next interval.
  void Flush(Ring* ring, uint64_t interval_ns);

 private:
  static constexpr uint32_t kSlots = 4096;  // power of two
  static constexpr uint32_t kDevices = 16;  // busy time is kept for this many devices; sums for all
  static constexpr uint32_t kCopies = 64;
  struct Kernel {
    uint64_t key;  // 0 = free
    uint64_t count;
    uint64_t total_ns;
  };
  struct Copy {
    uint64_t key;
    uint64_t count;
    uint64_t total_ns;
    uint64_t bytes;
  };
  uint64_t TakeBusy(uint32_t device);
  void FlushCopies(Ring* ring, uint64_t interval_ns);

  Kernel kernels_[kSlots] = {};
  uint32_t used_ = 0;
  Copy copies_[kCopies] = {};
  BusyUnion* busy_[kDevices] = {};
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_SUMS_H_
