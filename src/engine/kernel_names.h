// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_KERNEL_NAMES_H_
#define GPUWHY_ENGINE_KERNEL_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/evidence.h"

namespace gpuwhy {

// On which units a kernel multiplies matrices, as far as its name tells. Names are all that CUPTI's activity records
// give; families change with each generation, so what is not known is said to be unknown, never "no tensor cores".
enum class MathUnit : uint8_t {
  kNone,     // no matrix product: element-wise, reductions, normalisation, copies
  kTensor,   // tensor cores (or AMD's matrix cores)
  kFp32,     // ordinary 32-bit units
  kFp64,     // 64-bit
  kUnknown,  // a matrix product or convolution of a family that is not known
};

// Source of the families: names in traces of cuBLAS, cuDNN, CUTLASS, FlashAttention, Triton and hipBLASLt from V100 to
// B200 (profiling facts 2.1 and 2.9), and sessions recorded on an H200.
MathUnit MathUnitOf(std::string_view kernel_name);

// A kernel that only turns activations or weights from NCHW into NHWC or back (cuDNN's own conversion kernels).
bool IsLayoutConversion(std::string_view kernel_name);

// Seconds of kernel time of one process inside its timing windows, added up over streams.
struct KernelTimes {
  double total_s = 0;
  double tensor_s = 0, fp32_s = 0, fp64_s = 0, unknown_s = 0;
  double layout_s = 0;
  std::string longest_fp32;  // the kernel with most time of that kind, "" = none
};

// Nothing without a timing window that holds kernels with names.
std::optional<KernelTimes> ViewKernels(const Evidence& evidence, int64_t pid);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_KERNEL_NAMES_H_
