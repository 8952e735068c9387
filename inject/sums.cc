// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/sums.h"

#include <string.h>
#include <sys/mman.h>

#include "inject/ring.h"

namespace gpuwhy::inject {

void BusyUnion::Sort(Interval* items, size_t count) {
  // Heap sort: in place, no recursion, no worst case; qsort of glibc may allocate.
  auto sift = [items](size_t root, size_t end) {
    for (size_t child = 2 * root + 1; child < end; child = 2 * root + 1) {
      if (child + 1 < end && items[child].start < items[child + 1].start) ++child;
      if (items[root].start >= items[child].start) return;
      const Interval kept = items[root];
      items[root] = items[child];
      items[child] = kept;
      root = child;
    }
  };
  for (size_t i = count / 2; i > 0; --i) sift(i - 1, count);
  for (size_t end = count; end > 1; --end) {
    const Interval kept = items[0];
    items[0] = items[end - 1];
    items[end - 1] = kept;
    sift(0, end - 1);
  }
}

void BusyUnion::Merge() {
  Sort(items_, count_);
  size_t out = 0;
  for (size_t i = 0; i < count_; ++i) {
    if (out > 0 && items_[i].start <= items_[out - 1].end) {
      if (items_[i].end > items_[out - 1].end) items_[out - 1].end = items_[i].end;
    } else {
      items_[out++] = items_[i];
    }
  }
  count_ = out;
}

void BusyUnion::Add(uint64_t start, uint64_t end) {
  if (end <= start) return;
  if (count_ == kMost) Merge();
  if (count_ > kMost / 2) {
    // Kernels arrive nearly in order, so what lies in the older half will not be touched again.
    Merge();
    const size_t half = count_ / 2;
    for (size_t i = 0; i < half; ++i) closed_ns_ += items_[i].end - items_[i].start;
    memmove(items_, items_ + half, (count_ - half) * sizeof(Interval));
    count_ -= half;
  }
  items_[count_++] = {start, end};
}

uint64_t BusyUnion::Take() {
  Merge();
  uint64_t total = closed_ns_;
  for (size_t i = 0; i < count_; ++i) total += items_[i].end - items_[i].start;
  count_ = 0;
  closed_ns_ = 0;
  return total;
}

void Sums::AddKernel(uint32_t name, uint32_t device, uint64_t start, uint64_t end) {
  if (end < start) return;
  if (device < kDevices) {
    if (busy_[device] == nullptr) {
      void* memory = mmap(nullptr, sizeof(BusyUnion), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory != MAP_FAILED) busy_[device] = static_cast<BusyUnion*>(memory);  // zero bytes are an empty union
    }
    if (busy_[device] != nullptr) busy_[device]->Add(start, end);
  }
  if (used_ >= kSlots / 2) name = 0;  // so many names in a second: the rest shares the unknown name
  const uint64_t key = (uint64_t{1} << 63) | (static_cast<uint64_t>(device & 0xffff) << 32) | name;
  uint32_t slot = static_cast<uint32_t>((key * 0x9e3779b97f4a7c15) >> 32) & (kSlots - 1);
  while (kernels_[slot].key != 0 && kernels_[slot].key != key) slot = (slot + 1) & (kSlots - 1);
  if (kernels_[slot].key == 0) ++used_;
  kernels_[slot].key = key;
  ++kernels_[slot].count;
  kernels_[slot].total_ns += end - start;
}

void Sums::AddCopy(uint32_t device, uint8_t kind, uint8_t source, uint8_t target, uint64_t bytes, uint64_t duration) {
  const uint64_t key = (uint64_t{1} << 63) | (static_cast<uint64_t>(device & 0xffff) << 24) |
                       (static_cast<uint64_t>(kind) << 16) | (static_cast<uint64_t>(source) << 8) | target;
  for (Copy& copy : copies_) {
    if (copy.key != 0 && copy.key != key) continue;
    copy.key = key;
    ++copy.count;
    copy.bytes += bytes;
    copy.total_ns += duration;
    return;
  }
}

uint64_t Sums::TakeBusy(uint32_t device) {
  return device < kDevices && busy_[device] != nullptr ? busy_[device]->Take() : 0;
}

void Sums::FlushCopies(Ring* ring, uint64_t interval_ns) {
  for (Copy& copy : copies_) {
    if (copy.key == 0) continue;
    wire::MemcpySum record{};
    record.device = static_cast<uint16_t>(copy.key >> 24);
    record.kind = static_cast<uint8_t>(copy.key >> 16);
    record.source = static_cast<uint8_t>(copy.key >> 8);
    record.target = static_cast<uint8_t>(copy.key);
    record.count = copy.count;
    record.total_ns = copy.total_ns;
    record.bytes = copy.bytes;
    record.interval_ns = interval_ns;
    ring->Write(&record);
    copy = Copy{};
  }
}

void Sums::Flush(Ring* ring, uint64_t interval_ns) {
  for (Kernel& kernel : kernels_) {
    if (kernel.key == 0) continue;
    wire::KernelSum record{};
    record.name = static_cast<uint32_t>(kernel.key);
    record.device = static_cast<uint16_t>(kernel.key >> 32);
    record.count = kernel.count;
    record.total_ns = kernel.total_ns;
    record.busy_ns = TakeBusy(record.device);  // 0 on the device's later records: the first one took it
    record.interval_ns = interval_ns;
    ring->Write(&record);
    kernel = Kernel{};
  }
  used_ = 0;
  FlushCopies(ring, interval_ns);
}

}  // namespace gpuwhy::inject
