// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_GPM_H_
#define GPUWHY_WITNESS_NVML_NVML_GPM_H_

#include <memory>
#include <vector>

#include "witness/nvml/nvml_channel.h"
#include "witness/nvml/nvml_facts.h"

namespace gpuwhy::nvml {

// Hardware counters of one GPU (GPM: Hopper and newer data centre chips, GeForce Blackwell on Linux). Two samples more
// than 100 ms apart give the mean over the time between them; here two consecutive ticks are the two samples. Not to be
// called for two devices at once (gpud gpm.go: crashes); the witness polls from one thread.
class Gpm {
 public:
  // Asks the driver, never the brand: adds the fact gpu.gpm.supported.
  Gpm(const Library& library, const Device& device, EvidenceSink& sink);
  ~Gpm();
  Gpm(const Gpm&) = delete;
  Gpm& operator=(const Gpm&) = delete;

  // Takes a sample and reports the time since the one before. kGpuIsLost when the GPU is gone.
  Return Poll(double time_s, EvidenceSink& sink);
  bool usable() const { return usable_; }

 private:
  struct Wanted {
    unsigned id;
    double factor;   // to base units
    double ceiling;  // what is above is no reading
    Channel channel;
  };
  void Report(double time_s, EvidenceSink& sink);
  void AllMiss(double time_s, Return code, EvidenceSink& sink);

  const Api& api_;
  const DeviceHandle handle_;
  bool usable_ = false;
  GpmSample last_ = nullptr;
  GpmSample now_ = nullptr;
  double last_time_s_ = 0;
  bool has_last_ = false;
  std::vector<Wanted> wanted_;
  std::unique_ptr<GpmMetricsGet> request_;
};

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_GPM_H_
