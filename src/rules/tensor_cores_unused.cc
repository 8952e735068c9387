// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "engine/kernel_names.h"
#include "engine/lookup.h"
#include "knowledge/gpus.h"

namespace gpuwhy::rules {

extern const Rule kRule_tensor_cores_unused;

namespace {

constexpr std::string_view kNeeds[] = {"window.seconds", "framework.torch.device.0.capability"};

// Tensor cores since compute capability 7.0; those for 32-bit inputs (TF32) since 8.0 (CUDA C++ Programming Guide,
// compute capabilities).
constexpr double kWithTensorCores = 7.0;
constexpr double kWithTf32 = 8.0;

std::optional<double> Capability(const RuleContext& context) {
  for (const char* name : {"framework.torch.device.0.capability", "framework.tensorflow.gpu.0.capability"}) {
    const Fact* fact = MainFact(context, name);
    if (fact != nullptr && fact->value.AsText()) return ParseDouble(*fact->value.AsText());
  }
  // JAX does not tell it; the name of the GPU does.
  const Fact* gpu = context.evidence.Find("gpu.name", Entity::Gpu(context.analysis.gpu));
  const auto known = gpu != nullptr ? knowledge::FindGpu(gpu->value.AsText().value_or("")) : std::nullopt;
  return known ? ParseDouble(known->capability) : std::nullopt;
}

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  const std::optional<KernelTimes> times = ViewKernels(context.evidence, analysis.main_pid);
  if (!times || !analysis.breakdown || times->total_s <= 0) return RuleOutcome::CannotTell({"window.seconds"});
  const std::optional<double> capability = Capability(context);
  if (capability && *capability < kWithTensorCores) return RuleOutcome::Clear();
  const double share = analysis.breakdown->gpu_compute * times->fp32_s / times->total_s;
  if (share < kShareInfo) {
    // A family that nobody knows may be either; "clear" would claim too much.
    const double unknown = analysis.breakdown->gpu_compute * times->unknown_s / times->total_s;
    return unknown < kShareInfo ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"kernel names of a known family"});
  }
  if (!capability) return RuleOutcome::CannotTell({"framework.torch.device.0.capability"});
  Finding finding = TimeFinding(kRule_tensor_cores_unused, share, kTwoWitnesses);
  // That the units are unused is certain, that these shapes gain by them is not: never an error.
  finding.severity = std::min(finding.severity, Severity::kWarning);
  finding.Param("kernel", times->longest_fp32.substr(0, 60))
      .Param("tensor", ShowPercent(times->tensor_s / times->total_s));
  finding.Param("how", *capability >= kWithTf32 ? "@tensor_cores.tf32" : "@tensor_cores.fp16");
  AddItem(finding, Item("kernels.fp32.ratio", times->fp32_s / times->total_s, Source::kCuda));
  AddItem(finding, Item("kernels.tensor.ratio", times->tensor_s / times->total_s, Source::kCuda));
  AddItem(finding, MetricItem(analysis, "gpu.gpm.tensor.ratio", Source::kDevice));
  for (const char* name : {"framework.torch.tf32.matmul", "framework.torch.tf32.cudnn", "framework.torch.amp",
                           "framework.tensorflow.mixed_precision", "process.env.NVIDIA_TF32_OVERRIDE"})
    AddItem(finding, MainFact(context, name));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_tensor_cores_unused{.id = "GW701",
                                                      .name = "tensor-cores-unused",
                                                      .since = "0.2",
                                                      .stage = Stage::kSpeed,
                                                      .needs = kNeeds,
                                                      .check = &Check};

}  // namespace gpuwhy::rules
