// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_DEVICE_MEMORY_H_
#define GPUWHY_ENGINE_DEVICE_MEMORY_H_

#include <optional>

#include "engine/rule.h"

namespace gpuwhy {

// Bytes of the GPU that the main process works on: the framework's word, else NVML's. Nothing when neither tells.
std::optional<double> DeviceBytes(const RuleContext& context);

// Bytes of that GPU that the main process's allocator does not hold: CUDA contexts, libraries, other processes. The
// largest reading of NVML less the most that the allocator held; nothing unless both were read.
std::optional<double> HeldByOthers(const RuleContext& context);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_DEVICE_MEMORY_H_
