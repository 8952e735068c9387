// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_FACTS_H_
#define GPUWHY_WITNESS_NVML_NVML_FACTS_H_

#include <string>

#include "model/evidence.h"
#include "witness/nvml/nvml_library.h"

namespace gpuwhy::nvml {

// What stays the same while a GPU is watched.
struct Device {
  DeviceHandle handle = nullptr;
  Entity entity;       // UUID, or bus id where the driver has no UUID
  std::string name;    // "" when unknown
  std::string bus_id;  // "00000000:00:06.0", "" when unknown
  bool mig = false;    // MIG mode is on now
};

// Facts about the driver itself; `init` is the code of nvmlInit.
void AddDriverFacts(const Library& library, Return init, EvidenceSink& sink);
// Version of the driver such as "580.159.04", "" when it does not tell.
std::string DriverVersion(const Library& library);

// Finds out who the GPU behind a handle is.
Device Identify(const Library& library, DeviceHandle handle);
// All gpu.* facts that do not change while it is watched.
void AddDeviceFacts(const Library& library, const Device& device, bool brief, EvidenceSink& sink);

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_FACTS_H_
