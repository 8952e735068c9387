// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_CUDA_CUDA_NAMES_H_
#define GPUWHY_WITNESS_CUDA_CUDA_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/wire.gen.h"

namespace gpuwhy::cuda {

// A kernel's name for people: demangled where it is mangled, 200 bytes at most.
std::string KernelName(const std::string& raw);

// Name of a synchronising or copying API call; "driver call 17" or "runtime call 300" for one that is not in the table.
std::string ApiName(uint16_t domain, uint32_t cbid);

// "idle", "timing", "stepped_aside", ...; "unknown" for a number that the schema does not know.
std::string_view StateText(wire::State state);

}  // namespace gpuwhy::cuda

#endif  // GPUWHY_WITNESS_CUDA_CUDA_NAMES_H_
