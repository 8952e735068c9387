// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_COUNTERS_H_
#define GPUWHY_WITNESS_NVML_NVML_COUNTERS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "witness/nvml/nvml_channel.h"
#include "witness/nvml/nvml_facts.h"

namespace gpuwhy::nvml {

// Field ids of the time spent under software thermal, hardware thermal and power-brake limits. The same ids mean power
// smoothing in other drivers, so that asking by the wrong one gives a wrong number and no error.
struct ThrottleFields {
  unsigned sw_thermal, hw_thermal, power_brake;
};
// Nothing for a driver that has none or whose numbering is not known.
std::optional<ThrottleFields> ThrottleFieldsOf(std::string_view driver_version);

// Counters of one GPU that only grow: energy, time under clock limits, PCIe bytes. Read in one call where the driver
// can, else through the older functions.
class Counters {
 public:
  // `pcie` false: another source reports the traffic.
  Counters(const Library& library, const Device& device, bool pcie);
  Return Poll(double time_s, EvidenceSink& sink);

 private:
  struct Wanted {
    unsigned field;
    double factor;  // to base units
    Channel channel;
  };
  struct Traffic {
    unsigned field;
    Channel channel;
    std::optional<uint64_t> last;
    bool narrow;  // a 32-bit counter
  };
  void Want(unsigned field, double factor, const char* name, const Device& device);
  Return PollFields(double time_s, EvidenceSink& sink);
  Return PollOld(double time_s, EvidenceSink& sink);
  void PutTraffic(Traffic& traffic, const FieldValue& reading, double time_s, EvidenceSink& sink);

  const Api& api_;
  const Device& device_;
  std::vector<Wanted> wanted_;
  std::vector<Traffic> traffic_;
  std::vector<FieldValue> request_;
  double last_time_s_ = 0;
  bool fields_work_ = true;
};

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_COUNTERS_H_
