// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/convert.h"

#include "inject/old_glibc.h"

namespace gpuwhy::inject {
namespace {

constexpr uint64_t kLongestNs = 86'400'000'000'000;  // a "kernel" of more than a day is a misread record

struct Lock {
  explicit Lock(pthread_mutex_t* mutex) : mutex_(mutex) { pthread_mutex_lock(mutex_); }
  ~Lock() { pthread_mutex_unlock(mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  pthread_mutex_t* mutex_;
};

uint64_t Positive(int32_t value) { return value > 0 ? static_cast<uint64_t>(value) : 0; }

uint32_t Saturated(uint64_t value) { return value > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(value); }

uint16_t Device(uint32_t device) { return device > UINT16_MAX ? uint16_t{UINT16_MAX} : static_cast<uint16_t>(device); }

void Increment(uint64_t* counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

}  // namespace

void Converter::Start(const CuptiApi* api, uint32_t version, Ring* ring) {
  api_ = api;
  version_ = version;
  ring_ = ring;
}

void Converter::BeginWindow(bool aggregate, int64_t offset_ns) {
  Lock lock(&lock_);
  aggregate_ = aggregate;
  offset_ns_ = offset_ns;
  __atomic_store_n(&records_, uint64_t{0}, __ATOMIC_RELAXED);
  __atomic_store_n(&kernels_, uint64_t{0}, __ATOMIC_RELAXED);
  __atomic_store_n(&malformed_, uint64_t{0}, __ATOMIC_RELAXED);
}

void Converter::ForgetPointers() {
  Lock lock(&lock_);
  names_.ForgetPointers();
}

void Converter::FlushSums(uint64_t interval_ns) {
  Lock lock(&lock_);
  sums_.Flush(ring_, interval_ns);
}

void Converter::Convert(uint8_t* buffer, size_t valid_bytes) {
  Lock lock(&lock_);
  cupti::Activity* activity = nullptr;
  // Any other status than "no more records" also ends the buffer: what follows an unknown record cannot be found.
  cupti::Result result = api_->GetNextRecord(buffer, valid_bytes, &activity);
  while (result == cupti::kSuccess && activity != nullptr) {
    if (One(activity)) {
      Increment(&records_);
    } else {
      Increment(&malformed_);
    }
    result = api_->GetNextRecord(buffer, valid_bytes, &activity);
  }
  if (result != cupti::kSuccess && result != cupti::kMaxLimitReached) Increment(&malformed_);
}

bool Converter::One(const cupti::Activity* activity) {
  switch (activity->kind) {
    case cupti::kKindConcurrentKernel:
    case cupti::kKindKernel:
      return OneKernel(reinterpret_cast<const cupti::Kernel*>(activity));
    case cupti::kKindMemcpy:
      return OneCopy(reinterpret_cast<const cupti::Memcpy*>(activity));
    case cupti::kKindMemcpyPeer:
      return OneCopy(reinterpret_cast<const cupti::MemcpyPeer*>(activity));
    case cupti::kKindMemset:
      return OneMemset(reinterpret_cast<const cupti::Memset*>(activity));
    default:
      return false;
  }
}

// CUPTI writes 0 for a time it could not take (device work cut off by a forced flush).
bool Converter::FillTimes(uint64_t start, uint64_t end, uint64_t* start_ns, uint64_t* duration_ns) const {
  if (start == 0 || end < start || end - start > kLongestNs) return false;
  *start_ns = start + static_cast<uint64_t>(offset_ns_);
  *duration_ns = end - start;
  return true;
}

bool Converter::InGraph(uint64_t node, uint32_t graph) {
  const bool in_graph = node != 0 || (version_ >= cupti::kVersion111 && graph != 0);
  if (in_graph) SawGraph();
  return in_graph;
}

bool Converter::OneKernel(const cupti::Kernel* kernel) {
  wire::Kernel record{};
  uint64_t start = 0;
  uint64_t duration = 0;
  if (!FillTimes(kernel->start, kernel->end, &start, &duration)) return false;
  const bool in_graph = InGraph(kernel->graph_node_id, kernel->graph_id);
  const uint32_t name = names_.IdOf(kernel->name, ring_);
  Increment(&kernels_);
  if (aggregate_) {
    sums_.AddKernel(name, kernel->device_id, start, start + duration);
    return true;
  }
  record.start_ns = start;
  record.duration_ns = duration;
  record.name = name;
  record.blocks = Saturated(Positive(kernel->grid_x) * Positive(kernel->grid_y) * Positive(kernel->grid_z));
  record.threads = Saturated(Positive(kernel->block_x) * Positive(kernel->block_y) * Positive(kernel->block_z));
  record.stream = kernel->stream_id;
  record.device = Device(kernel->device_id);
  record.graph = in_graph ? 1 : 0;
  record.correlation = kernel->correlation_id;
  ring_->Write(&record);
  return true;
}

template <class Copy>
bool Converter::OneCopy(const Copy* copy) {
  wire::Memcpy record{};
  uint64_t start = 0;
  uint64_t duration = 0;
  if (!FillTimes(copy->start, copy->end, &start, &duration)) return false;
  const bool in_graph = InGraph(copy->graph_node_id, copy->graph_id);
  if (aggregate_) {
    sums_.AddCopy(copy->device_id, copy->copy_kind, copy->src_kind, copy->dst_kind, copy->bytes, duration);
    return true;
  }
  record.start_ns = start;
  record.duration_ns = duration;
  record.bytes = copy->bytes;
  record.kind = copy->copy_kind;
  record.source = copy->src_kind;
  record.target = copy->dst_kind;
  record.stream = copy->stream_id;
  record.device = Device(copy->device_id);
  record.graph = in_graph ? 1 : 0;
  record.correlation = copy->correlation_id;
  ring_->Write(&record);
  return true;
}

bool Converter::OneMemset(const cupti::Memset* memset) {
  wire::Memset record{};
  uint64_t start = 0;
  uint64_t duration = 0;
  if (!FillTimes(memset->start, memset->end, &start, &duration)) return false;
  const bool in_graph = InGraph(memset->graph_node_id, memset->graph_id);
  if (aggregate_) {
    // Counts as GPU work without a kernel name.
    sums_.AddKernel(Names::kUnknown, memset->device_id, start, start + duration);
    return true;
  }
  record.start_ns = start;
  record.duration_ns = duration;
  record.bytes = memset->bytes;
  record.target = memset->memory_kind;
  record.stream = memset->stream_id;
  record.device = Device(memset->device_id);
  record.graph = in_graph ? 1 : 0;
  record.correlation = memset->correlation_id;
  ring_->Write(&record);
  return true;
}

}  // namespace gpuwhy::inject
