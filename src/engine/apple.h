// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_APPLE_H_
#define GPUWHY_ENGINE_APPLE_H_

#include "model/evidence.h"

namespace gpuwhy {

// What a finding's `frameworks` holds where its fixes are for a Mac: there is no CUDA, no nvidia-smi and no gpuwhy.
constexpr const char* kApple = "apple";

// Does a text speak of a Mac's own GPU (Metal, PyTorch's MPS) and show no NVIDIA GPU or driver?
bool OnApple(const Evidence& evidence);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_APPLE_H_
