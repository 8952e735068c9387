// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_SAMPLER_H_
#define GPUWHY_WITNESS_NVML_NVML_SAMPLER_H_

#include <memory>
#include <set>

#include "witness/nvml/nvml_channel.h"
#include "witness/nvml/nvml_counters.h"
#include "witness/nvml/nvml_facts.h"
#include "witness/nvml/nvml_gpm.h"
#include "witness/nvml/nvml_processes.h"

namespace gpuwhy::nvml {

// All readings of one GPU.
class DeviceSampler {
 public:
  DeviceSampler(const Library& library, Device device, EvidenceSink& sink);
  DeviceSampler(const DeviceSampler&) = delete;
  DeviceSampler& operator=(const DeviceSampler&) = delete;

  // The cheap readings, for every poll.
  void PollFast(double time_s, EvidenceSink& sink);
  // What only a second reading makes useful: counters of the driver, and those of the hardware (GPM).
  struct Rates {
    bool counters = true;
    bool gpm = true;
  };
  // Temperature, processes and, as asked, rates: once a second.
  void PollSlow(double time_s, const std::set<int64_t>& job, Rates rates, EvidenceSink& sink);
  // Duty cycle of the last seconds from the driver's own buffer (nvmlDeviceGetSamples): a snapshot shows bursts without
  // having to watch. `now_s` is the time of the session now.
  void ReadHistory(double now_s, EvidenceSink& sink);
  // Last words: what was thrown away.
  void Finish(double time_s, EvidenceSink& sink);

  const Device& device() const { return device_; }
  const std::set<int64_t>& listed() const { return processes_.listed(); }
  // The GPU fell off the bus: it is not asked any more.
  bool lost() const { return lost_; }

 private:
  void PollUtilization(double time_s, EvidenceSink& sink);
  void PollMemory(double time_s, EvidenceSink& sink);
  void PollTemperature(double time_s, EvidenceSink& sink);
  template <typename Ask>
  void Read(Channel& channel, double time_s, double factor, EvidenceSink& sink, const Ask& ask);
  void Check(Return code, double time_s, EvidenceSink& sink);

  const Api& api_;
  const Device device_;
  bool lost_ = false;
  bool idle_ = false;
  bool memory_v2_works_ = true;
  bool temperature_v_works_ = true;
  Channel utilization_, memory_utilization_, memory_used_, power_, temperature_, clock_sm_, clock_memory_, pstate_,
      reasons_;
  Gpm gpm_;
  Counters counters_;
  ProcessWatch processes_;
};

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_SAMPLER_H_
