// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_VIRTUAL_GPU_H_
#define GPUWHY_ENGINE_VIRTUAL_GPU_H_

#include <string_view>

#include "model/evidence.h"

namespace gpuwhy {

// Is it the name of a vGPU type (NVIDIA vGPU software user guide): the board, the memory in GB and the letter of the
// series, "GRID A100D-10C", "NVIDIA A10-24Q", "GRID M60-1B4", "NVIDIA A100-1-5CME"?
bool IsVirtualGpuName(std::string_view name);

// The name of the first virtual GPU that somebody saw, or nullptr.
const Fact* VirtualGpu(const Evidence& evidence);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_VIRTUAL_GPU_H_
