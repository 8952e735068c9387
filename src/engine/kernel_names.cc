// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/kernel_names.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

namespace gpuwhy {
namespace {

constexpr std::string_view kOnFp64[] = {"dgemm", "_f64f64_", "f64f64f64", "tensorop_d884"};
// Looked for before the tensor cores: "sm80_xmma_gemm_f32f32_f32f32_f32_..._ffma_..." is no tensor kernel.
constexpr std::string_view kOnFp32[] = {"simt",
                                        "_ffma_",
                                        "sgemm",
                                        "f32f32_f32f32_f32",
                                        "scudnn",
                                        "implicit_convolve_s",
                                        "explicit_convolve_s",
                                        "winograd",
                                        "fft2d",
                                        "conv2d_grouped_direct_kernel"};
constexpr std::string_view kOnTensorCores[] = {"nvjet",
                                               "tensorop",
                                               "hmma",
                                               "gmma",
                                               "wgmma",
                                               "h884",
                                               "s884",
                                               "h1688",
                                               "s1688",
                                               "c1688",
                                               "16816",
                                               "i8816",
                                               "16832",
                                               "tf32f32",
                                               "tf32tf32",
                                               "f16f16",
                                               "bf16bf16",
                                               "flash_fwd",
                                               "flash_bwd",
                                               "flash::",
                                               "fmha",
                                               "native_sdpa",
                                               "bmm_E4m3",
                                               "bmm_Mx",
                                               "Cijk_",
                                               "MFMA",
                                               "MI16x16",
                                               "MI32x32",
                                               "xmma_fprop",
                                               "xmma_dgrad",
                                               "xmma_wgrad",
                                               "xmma_gemm",
                                               "xmma_implicit_gemm",
                                               "sm90_xmma",
                                               "sm100_xmma",
                                               "cutlass3x_sm",
                                               "dgrad_1x1_stride_2x2",
                                               "first_layer_wgrad_kernel"};
// Looks like a product of matrices or a convolution, of whatever family; and what only sounds like one.
constexpr std::string_view kProduct[] = {"gemm",  "Gemm",   "GEMM", "conv", "Conv", "wgrad",     "dgrad",
                                         "fprop", "matmul", "_mm_", "_dot", "attn", "attention", "bmm"};
constexpr std::string_view kNoProduct[] = {"convert",    "Convert",     "conversion",    "splitK",         "splitk",
                                           "layer_norm", "elementwise", "bn_fw",         "bn_bw",          "im2col",
                                           "col2im",     "gemv",        "reduce_kernel", "computeOffsets", "copy"};
constexpr std::string_view kLayout[] = {"nchwToNhwc", "nhwcToNchw", "nchw2nhwc",      "nhwc2nchw",
                                        "NCHWToNHWC", "NHWCToNCHW", "nhwcAddPadding", "SwapDimension1And2InTensor3"};
// Parts of a product that do no product themselves.
constexpr std::string_view kHelpers[] = {"splitKreduce", "elementwise_kernel", "computeOffsetsKernel"};

bool HasAny(std::string_view name, std::span<const std::string_view> pieces) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](std::string_view piece) { return name.find(piece) != std::string_view::npos; });
}

// Seconds by name inside the timing windows of one process.
std::map<uint32_t, double> TimesByName(const Evidence& evidence, int64_t pid) {
  constexpr uint32_t kTiming = 2;  // wire window_mode
  std::vector<const Span*> windows;
  for (const Span& span : evidence.spans()) {
    if (span.kind == SpanKind::kWindow && span.pid == pid && span.detail[0] == kTiming) windows.push_back(&span);
  }
  std::map<uint32_t, double> by_name;
  for (const Span& span : evidence.spans()) {
    if (span.kind != SpanKind::kKernel || span.pid != pid || span.name == 0) continue;
    const bool inside = std::any_of(windows.begin(), windows.end(), [&](const Span* w) {
      return w->start_ns <= span.start_ns && span.start_ns < w->end_ns();
    });
    if (inside) by_name[span.name] += static_cast<double>(span.duration_ns) * 1e-9;
  }
  return by_name;
}

}  // namespace

MathUnit MathUnitOf(std::string_view name) {
  if (IsLayoutConversion(name) || HasAny(name, kHelpers)) return MathUnit::kNone;
  if (HasAny(name, kOnFp64)) return MathUnit::kFp64;
  if (HasAny(name, kOnFp32)) return MathUnit::kFp32;
  if (HasAny(name, kOnTensorCores)) return MathUnit::kTensor;
  return HasAny(name, kProduct) && !HasAny(name, kNoProduct) ? MathUnit::kUnknown : MathUnit::kNone;
}

bool IsLayoutConversion(std::string_view name) { return HasAny(name, kLayout); }

std::optional<KernelTimes> ViewKernels(const Evidence& evidence, int64_t pid) {
  const std::map<uint32_t, double> by_name = TimesByName(evidence, pid);
  if (by_name.empty()) return std::nullopt;
  KernelTimes times;
  double most_fp32 = 0;
  for (const auto& [index, seconds] : by_name) {
    const std::string& name = evidence.Name(index);
    times.total_s += seconds;
    if (IsLayoutConversion(name)) times.layout_s += seconds;
    switch (MathUnitOf(name)) {
      case MathUnit::kNone:
        break;
      case MathUnit::kTensor:
        times.tensor_s += seconds;
        break;
      case MathUnit::kFp64:
        times.fp64_s += seconds;
        break;
      case MathUnit::kUnknown:
        times.unknown_s += seconds;
        break;
      case MathUnit::kFp32:
        times.fp32_s += seconds;
        if (seconds > most_fp32) times.longest_fp32 = name;
        most_fp32 = std::max(most_fp32, seconds);
    }
  }
  return times;
}

}  // namespace gpuwhy
