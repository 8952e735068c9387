// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/nvml/nvml_processes.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"

namespace gpuwhy::nvml {
namespace {

constexpr size_t kFirstListCapacity = 64;
// An H200 asks for more than 64 at once, and each question takes it 1.3 ms.
constexpr size_t kFirstUseCapacity = 256;
constexpr size_t kMostEntries = 65536;  // a larger answer is a broken one
constexpr double kRepeatSeconds = 10;   // an unchanged reading of a foreign process is sent this often
constexpr unsigned long long kSecondUs = 1000000;
constexpr unsigned kPercentCeiling = 100;

const char* TypeName(unsigned kinds) {
  const bool compute = (kinds & 1U) != 0, graphics = (kinds & 2U) != 0, mps = (kinds & 4U) != 0;
  if (graphics) return compute || mps ? "C+G" : "G";
  return compute && !mps ? "C" : "M";
}

unsigned long long NowUs() { return static_cast<unsigned long long>(WallNs() / 1000); }

}  // namespace

ProcessWatch::Known::Known(int64_t pid, const std::string& gpu)
    : memory("process.gpu.memory.bytes", Entity::ProcessOnGpu(pid, gpu)),
      sm("process.gpu.sm.ratio", Entity::ProcessOnGpu(pid, gpu)) {}

// The driver averages over its whole buffer for "last seen 0", which would show work of long ago (nvtop issue 91).
ProcessWatch::ProcessWatch(const Library& library, const Device& device)
    : api_(library.api()),
      device_(device),
      layout_(library.process_layout()),
      last_seen_us_(NowUs() - kSecondUs),
      list_state_("gpu.processes.count", device.entity),
      use_state_("process.gpu.sm.ratio", device.entity) {}

ProcessWatch::Known& ProcessWatch::Of(int64_t pid) {
  return known_.try_emplace(pid, pid, device_.entity.id).first->second;
}

Return ProcessWatch::Poll(double time_s, const std::set<int64_t>& job, bool idle, EvidenceSink& sink) {
  std::map<int64_t, Entry> entries;
  const Return code = ReadLists(&entries);
  list_state_.Put(time_s, code, static_cast<double>(entries.size()), sink);
  if (code == kGpuIsLost) return code;
  if (code == kSuccess) {
    listed_.clear();
    for (const auto& [pid, entry] : entries) listed_.insert(pid);
    PutGone(time_s, entries, sink);
    PutListed(time_s, entries, job, sink);
  }
  return PollUse(time_s, job, idle, sink);
}

// Graphics and MPS lists are optional: a data centre GPU may lack the former. The list of compute processes decides.
Return ProcessWatch::ReadLists(std::map<int64_t, Entry>* out) {
  const Return code = ReadList(api_.compute_processes, kCompute, out);
  if (code == kGpuIsLost) return code;
  const Return graphics = ReadList(api_.graphics_processes, kGraphics, out);
  if (graphics == kGpuIsLost) return graphics;
  ReadList(api_.mps_processes, kMps, out);
  return code == kNotFound ? kSuccess : code;
}

Return ProcessWatch::ReadList(Api::GetProcesses* function, Kind kind, std::map<int64_t, Entry>* out) {
  const auto size = static_cast<size_t>(layout_);
  if (lists_.empty()) lists_.resize(kFirstListCapacity * size);
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto count = static_cast<unsigned>(lists_.size() / size);
    const Return code = Call(function, device_.handle, &count, static_cast<void*>(lists_.data()));
    if (code == kSuccess) {
      AddEntries(std::min<unsigned>(count, static_cast<unsigned>(lists_.size() / size)), kind, out);
      return code;
    }
    // Processes come while we ask: twice the room and a little more.
    const size_t wanted = size_t{count} * 2 + 5;
    if (code != kInsufficientSize || wanted > kMostEntries || wanted * size <= lists_.size()) return code;
    lists_.resize(wanted * size);
  }
  return kInsufficientSize;
}

void ProcessWatch::AddEntries(unsigned count, Kind kind, std::map<int64_t, Entry>* out) const {
  const auto size = static_cast<size_t>(layout_);
  for (unsigned at = 0; at < count; ++at) {
    // V2 is a prefix of the 535 layout and V1 of V2.
    ProcessInfoV2 info = {0, kMemoryNotAvailable, ~0U, ~0U};
    std::memcpy(&info, lists_.data() + at * size, std::min(size, sizeof info));
    if (info.pid == 0) continue;
    Entry& entry = (*out)[info.pid];
    entry.kinds |= kind;
    if (info.used_memory == kMemoryNotAvailable) continue;
    // The same process stands in several lists with the same memory, but its slices add up.
    uint64_t& bytes = entry.bytes[(uint64_t{info.gpu_instance} << 32U) | info.compute_instance];
    bytes = std::max(bytes, info.used_memory);
  }
}

void ProcessWatch::PutGone(double time_s, const std::map<int64_t, Entry>& entries, EvidenceSink& sink) {
  for (auto it = known_.begin(); it != known_.end();) {
    const bool gone = it->second.listed && entries.count(it->first) == 0;
    if (gone) {
      const Entity& entity = it->second.memory.last().entity;
      sink.AddFact("process.gpu.listed", entity, Value::Of(false), Source::kDriver, "", time_s);
      it = known_.erase(it);
    } else {
      ++it;
    }
  }
}

void ProcessWatch::PutListed(double time_s, const std::map<int64_t, Entry>& entries, const std::set<int64_t>& job,
                             EvidenceSink& sink) {
  for (const auto& [pid, entry] : entries) PutEntry(time_s, pid, entry, job.count(pid) != 0, sink);
}

void ProcessWatch::PutEntry(double time_s, int64_t pid, const Entry& entry, bool in_job, EvidenceSink& sink) {
  Known& known = Of(pid);
  const Entity& entity = known.memory.last().entity;
  if (!known.listed) sink.AddFact("process.gpu.listed", entity, Value::Of(true), Source::kDriver, "", time_s);
  known.listed = true;
  if (known.kinds != entry.kinds) {
    sink.AddFact("process.gpu.type", entity, Value::Of(std::string(TypeName(entry.kinds))), Source::kDriver, "",
                 time_s);
    known.kinds = entry.kinds;
  }
  if (entry.bytes.empty()) {
    known.memory.Miss(time_s, kNotSupported, sink);
    return;
  }
  uint64_t bytes = 0;
  for (const auto& [slice, part] : entry.bytes) bytes += part;
  if (!in_job && known.bytes == bytes && time_s - known.memory_time_s < kRepeatSeconds) return;
  known.bytes = bytes;
  known.memory_time_s = time_s;
  known.memory.Push(time_s, static_cast<double>(bytes), sink);
}

Return ProcessWatch::PollUse(double time_s, const std::set<int64_t>& job, bool idle, EvidenceSink& sink) {
  // nvml.h: "On MIG-enabled GPUs, querying process utilization is not currently supported".
  if (device_.mig) {
    use_state_.Miss(time_s, kNotSupported, sink);
    return kSuccess;
  }
  if (use_state_.closed()) return kSuccess;
  Return code = modern_works_ ? ReadUseModern() : kFunctionNotFound;
  if (IsPermanent(code)) {
    modern_works_ = false;
    code = ReadUseOld();
  }
  std::map<int64_t, Use> uses;
  if (code == kSuccess) {
    Accept(job, &uses);
    PutUse(time_s, uses, job, sink);
  } else if (code == kNotFound) {
    // No sample is newer than the last one: nothing ran, or the driver has not sampled yet. Only the former is a 0.
    if (idle) PutUse(time_s, uses, job, sink);
  } else {
    use_state_.Miss(time_s, code, sink);
  }
  return code == kGpuIsLost ? code : kSuccess;
}

Return ProcessWatch::ReadUseModern() {
  if (uses_.empty()) uses_.resize(kFirstUseCapacity);
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::memset(static_cast<void*>(uses_.data()), 0, uses_.size() * sizeof(ProcessUtilizationV1));
    ProcessesUtilizationV1 request = {StructVersion<ProcessesUtilizationV1>(1), static_cast<unsigned>(uses_.size()),
                                      last_seen_us_, uses_.data()};
    const Return code = Call(api_.processes_utilization, device_.handle, &request);
    use_count_ = std::min<size_t>(request.count, uses_.size());
    if (code != kInsufficientSize) return code;
    if (request.count > kMostEntries || request.count <= uses_.size()) return code;
    uses_.resize(size_t{request.count} + 5);
  }
  return kInsufficientSize;
}

Return ProcessWatch::ReadUseOld() {
  if (old_uses_.empty()) {
    // Asked without a buffer it tells the capacity of the driver's buffer, not a number of processes (go-nvml issue
    // 11).
    unsigned capacity = 0;
    const Return code = Call(api_.process_utilization, device_.handle, static_cast<ProcessUtilization*>(nullptr),
                             &capacity, last_seen_us_);
    if (code != kSuccess && code != kInsufficientSize) return code;
    if (capacity > kMostEntries) return kUnknownError;
    old_uses_.resize(std::max<size_t>(capacity, kFirstListCapacity));
  }
  // The driver leaves entries unfilled (nvtop issue 110): zero is what they must read as.
  std::memset(static_cast<void*>(old_uses_.data()), 0, old_uses_.size() * sizeof(ProcessUtilization));
  auto count = static_cast<unsigned>(old_uses_.size());
  const Return code = Call(api_.process_utilization, device_.handle, old_uses_.data(), &count, last_seen_us_);
  if (code == kInsufficientSize) old_uses_.clear();
  use_count_ = std::min<size_t>(count, old_uses_.size());
  if (code != kSuccess) return code;
  uses_.assign(std::max(use_count_, kFirstListCapacity), {});
  for (size_t at = 0; at < use_count_; ++at) {
    const ProcessUtilization& old = old_uses_[at];
    uses_[at] = {old.timestamp, old.pid, old.sm, old.memory, old.encoder, old.decoder, 0, 0};
  }
  return code;
}

// nvtop's filter: a process that is known, percentages that can be, a sample newer than the last one.
void ProcessWatch::Accept(const std::set<int64_t>& job, std::map<int64_t, Use>* out) {
  const unsigned long long latest_possible = NowUs() + 10 * kSecondUs;
  unsigned long long newest = last_seen_us_;
  for (size_t at = 0; at < use_count_; ++at) {
    const ProcessUtilizationV1& use = uses_[at];
    if (use.pid == 0 && use.timestamp == 0) continue;
    const bool known = listed_.count(use.pid) != 0 || job.count(use.pid) != 0;
    const bool possible = use.sm <= kPercentCeiling && use.memory <= kPercentCeiling &&
                          use.encoder <= kPercentCeiling && use.decoder <= kPercentCeiling;
    if (!known || !possible || use.timestamp <= last_seen_us_ || use.timestamp > latest_possible) {
      ++discarded_;
      continue;
    }
    newest = std::max(newest, use.timestamp);
    Use& sum = (*out)[use.pid];
    sum.sum += use.sm * 0.01;
    ++sum.count;
  }
  last_seen_us_ = newest;
}

// The driver names only processes that did something: a listed one that it does not name did nothing.
void ProcessWatch::PutUse(double time_s, const std::map<int64_t, Use>& uses, const std::set<int64_t>& job,
                          EvidenceSink& sink) {
  const auto put = [&](int64_t pid, double value) {
    Known& known = Of(pid);
    const bool repeats = known.sm.last().value == value && time_s - known.sm_time_s < kRepeatSeconds;
    if (repeats && job.count(pid) == 0) return;
    known.sm_time_s = time_s;
    known.sm.Push(time_s, value, sink);
  };
  for (const auto& [pid, use] : uses) put(pid, use.sum / use.count);
  for (const int64_t pid : listed_) {
    if (uses.count(pid) == 0) put(pid, 0);
  }
}

}  // namespace gpuwhy::nvml
