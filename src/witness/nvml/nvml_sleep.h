// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_SLEEP_H_
#define GPUWHY_WITNESS_NVML_NVML_SLEEP_H_

#include <string>
#include <vector>

#include "base/host_root.h"

namespace gpuwhy::nvml {

// An NVIDIA GPU on the PCI bus as sysfs shows it, without asking the driver.
struct PciGpu {
  std::string address;  // "0000:01:00.0"
  bool asleep = false;  // runtime power management has suspended it
};

// Sorted by address; empty when the bus cannot be read.
std::vector<PciGpu> NvidiaOnBus(const HostRoot& root);
bool IsAsleep(const HostRoot& root, const std::string& address);
// "0000:01:00.0" -> "00000000:01:00.0", the way NVML writes it (upper case).
std::string NvmlBusId(const std::string& address);

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_SLEEP_H_
