// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/nvml/nvml_sampler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace gpuwhy::nvml {
namespace {

constexpr double kPercent = 0.01;
constexpr double kMegahertz = 1e6;
constexpr double kMilli = 1e-3;
constexpr unsigned kUnknownPstate = 32;  // NVML_PSTATE_UNKNOWN
constexpr unsigned kUsualSamples = 256;
constexpr unsigned kMostSamples = 65536;  // a larger answer is a broken one

}  // namespace

DeviceSampler::DeviceSampler(const Library& library, Device device, EvidenceSink& sink)
    : api_(library.api()),
      device_(std::move(device)),
      utilization_("gpu.utilization.ratio", device_.entity),
      memory_utilization_("gpu.memory_utilization.ratio", device_.entity),
      memory_used_("gpu.memory.used.bytes", device_.entity),
      power_("gpu.power.watts", device_.entity),
      temperature_("gpu.temperature.celsius", device_.entity),
      clock_sm_("gpu.clock.sm.hertz", device_.entity),
      clock_memory_("gpu.clock.memory.hertz", device_.entity),
      pstate_("gpu.pstate", device_.entity),
      reasons_("gpu.clock_event_reasons", device_.entity),
      gpm_(library, device_, sink),
      counters_(library, device_, !gpm_.usable()),
      processes_(library, device_) {
  sink.AddFact("gpu.lost", device_.entity, Value::Of(false), Source::kDriver);
}

void DeviceSampler::Check(Return code, double time_s, EvidenceSink& sink) {
  if (code != kGpuIsLost || lost_) return;
  lost_ = true;
  sink.AddFact("gpu.lost", device_.entity, Value::Of(true), Source::kDriver, "", time_s);
  sink.Add(Gap{"readings of " + device_.entity.id, Explain(code), Advice(code)});
}

template <typename Ask>
void DeviceSampler::Read(Channel& channel, double time_s, double factor, EvidenceSink& sink, const Ask& ask) {
  if (lost_ || channel.closed()) return;
  unsigned value = 0;
  const Return code = ask(&value);
  channel.Put(time_s, code, value * factor, sink);
  Check(code, time_s, sink);
}

void DeviceSampler::PollFast(double time_s, EvidenceSink& sink) {
  PollUtilization(time_s, sink);
  PollMemory(time_s, sink);
  Read(power_, time_s, kMilli, sink, [&](unsigned* out) { return Call(api_.power, device_.handle, out); });
  Read(clock_sm_, time_s, kMegahertz, sink,
       [&](unsigned* out) { return Call(api_.clock, device_.handle, kClockSm, out); });
  Read(pstate_, time_s, 1, sink, [&](unsigned* out) {
    const Return code = Call(api_.performance_state, device_.handle, out);
    return code == kSuccess && *out == kUnknownPstate ? kNoData : code;
  });
  if (lost_ || reasons_.closed()) return;
  unsigned long long reasons = 0;
  const Return code = Call(api_.clock_event_reasons, device_.handle, &reasons);
  reasons_.Put(time_s, code, static_cast<double>(reasons), sink);
  Check(code, time_s, sink);
}

void DeviceSampler::PollUtilization(double time_s, EvidenceSink& sink) {
  if (lost_ || utilization_.closed()) return;
  Utilization use = {};
  const Return code = Call(api_.utilization, device_.handle, &use);
  const Return gpu_code = code == kSuccess && use.gpu > 100 ? kNoData : code;
  const Return memory_code = code == kSuccess && use.memory > 100 ? kNoData : code;
  utilization_.Put(time_s, gpu_code, use.gpu * kPercent, sink);
  memory_utilization_.Put(time_s, memory_code, use.memory * kPercent, sink);
  idle_ = code == kSuccess && use.gpu == 0 && use.memory == 0;
  Check(code, time_s, sink);
}

void DeviceSampler::PollMemory(double time_s, EvidenceSink& sink) {
  if (lost_ || memory_used_.closed()) return;
  uint64_t used = 0, total = 0;
  Return code = kFunctionNotFound;
  if (memory_v2_works_) {
    MemoryV2 memory = {};
    memory.version = StructVersion<MemoryV2>(2);
    code = Call(api_.memory_v2, device_.handle, &memory);
    used = memory.used, total = memory.total;
    memory_v2_works_ = !IsPermanent(code);
  }
  if (!memory_v2_works_) {
    MemoryV1 memory = {};
    code = Call(api_.memory, device_.handle, &memory);
    used = memory.used, total = memory.total;
  }
  // A GPU that shares the host's memory answers 0 of 0: no reading, not "nothing used".
  if (code == kSuccess && total == 0) code = kNotSupported;
  memory_used_.Put(time_s, code, static_cast<double>(used), sink);
  Check(code, time_s, sink);
}

void DeviceSampler::PollTemperature(double time_s, EvidenceSink& sink) {
  Read(temperature_, time_s, 1, sink, [&](unsigned* out) {
    Return code = kFunctionNotFound;
    if (temperature_v_works_) {
      TemperatureV1 request = {StructVersion<TemperatureV1>(1), 0, 0};
      code = Call(api_.temperature_v, device_.handle, &request);
      *out = static_cast<unsigned>(std::max(request.celsius, 0));
      temperature_v_works_ = !IsPermanent(code);
    }
    return temperature_v_works_ ? code : Call(api_.temperature, device_.handle, 0U, out);
  });
}

void DeviceSampler::PollSlow(double time_s, const std::set<int64_t>& job, Rates rates, EvidenceSink& sink) {
  PollTemperature(time_s, sink);
  Read(clock_memory_, time_s, kMegahertz, sink,
       [&](unsigned* out) { return Call(api_.clock, device_.handle, kClockMemory, out); });
  if (!lost_ && rates.counters) Check(counters_.Poll(time_s, sink), time_s, sink);
  if (!lost_) Check(processes_.Poll(time_s, job, idle_, sink), time_s, sink);
  if (!lost_ && rates.gpm) Check(gpm_.Poll(time_s, sink), time_s, sink);
}

void DeviceSampler::ReadHistory(double now_s, EvidenceSink& sink) {
  if (lost_) return;
  int type = kTypeUnsigned;
  // Room for more than the buffers seen (100 to 120 entries): asking for the size first takes as long as the samples.
  unsigned count = kUsualSamples;
  std::vector<BufferSample> samples(count);
  Return code = Call(api_.samples, device_.handle, kSamplesGpuUtilization, 0ULL, &type, &count, samples.data());
  if (code == kInsufficientSize && count > kUsualSamples && count <= kMostSamples) {
    samples.resize(count);
    code = Call(api_.samples, device_.handle, kSamplesGpuUtilization, 0ULL, &type, &count, samples.data());
  }
  if (code != kSuccess) return;
  samples.resize(std::min<size_t>(count, samples.size()));
  std::sort(samples.begin(), samples.end(),
            [](const BufferSample& a, const BufferSample& b) { return a.timestamp < b.timestamp; });
  const double wall_us = static_cast<double>(WallNs()) * kMilli;
  for (const BufferSample& sample : samples) {
    const double age_s = (wall_us - static_cast<double>(sample.timestamp)) * 1e-6;
    // Unfilled entries and broken times are no history; the buffer holds seconds, not minutes.
    if (sample.value.as_unsigned > 100 || age_s < 0 || age_s > 600) continue;
    utilization_.Push(now_s - age_s, sample.value.as_unsigned * kPercent, sink);
  }
}

void DeviceSampler::Finish(double time_s, EvidenceSink& sink) {
  if (processes_.discarded() == 0) return;
  sink.AddFact("gpu.process_utilization.discarded", device_.entity, Value::Of(processes_.discarded()), Source::kDriver,
               "", time_s);
}

}  // namespace gpuwhy::nvml
