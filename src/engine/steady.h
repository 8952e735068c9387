// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_STEADY_H_
#define GPUWHY_ENGINE_STEADY_H_

#include <cstdint>

namespace gpuwhy {

// First steps compile, allocate and tune (cudnn, tf.function): a tenth of the run, at least 3 and at most 20 steps are
// left out; a run of fewer than 8 steps keeps all that it has. `total` is the number of steps of the run.
uint64_t WarmUpSteps(uint64_t total);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_STEADY_H_
