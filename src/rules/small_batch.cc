// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_small_batch;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.batch_size", "gpu.memory.used.bytes", "gpu.memory.total.bytes",
                                       "window.kernel.median.seconds"};

constexpr double kMemoryRoom =
    0.5;  // Gao et al., ICSE'24: improper batch size = low use and at most half of the memory
constexpr double kShortKernel = 30e-6;  // see launch_bound_small_kernels

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  const Fact* batch = MainFact(context, "framework.torch.batch_size");
  if (batch == nullptr || !batch->value.AsInt()) batch = MainFact(context, "framework.keras.batch_size");
  if (batch == nullptr || !batch->value.AsInt() || !analysis.breakdown || !analysis.window ||
      analysis.window->kernels == 0) {
    return RuleOutcome::CannotTell({"framework.torch.batch_size", "window.kernel.median.seconds"});
  }
  if (analysis.breakdown->launch < kShareWarning || analysis.window->median_kernel_s > kShortKernel)
    return RuleOutcome::Clear();
  const Entity gpu = Entity::Gpu(analysis.gpu);
  const std::optional<double> used = MaxOf(context.evidence.Samples("gpu.memory.used.bytes", gpu), 0, 1e18);
  const Fact* total = context.evidence.Find("gpu.memory.total.bytes", gpu);
  const double bytes = total != nullptr ? total->value.AsDouble().value_or(0) : 0;
  if (!used || bytes <= 0) return RuleOutcome::CannotTell({"gpu.memory.used.bytes", "gpu.memory.total.bytes"});
  if (*used / bytes > kMemoryRoom) return RuleOutcome::Clear();
  // A larger batch changes the training: a hint, never the cause of the verdict.
  Finding finding = MakeFinding(kRule_small_batch, Severity::kInfo, kOneWitness);
  finding.share_of_time = analysis.breakdown->launch;
  finding.speedup = Speedup{1.0, 1 / (1 - std::min(0.99, analysis.breakdown->launch)), false};
  finding.Param("batch", batch->value.Show())
      .Param("memory", ShowPercent(*used / bytes))
      .Param("share", ShowPercent(analysis.breakdown->launch));
  AddItem(finding, batch);
  finding.evidence.push_back(Item("gpu.memory.used.bytes", *used, Source::kDevice));
  AddItem(finding, total);
  AddItem(finding, MetricItem(analysis, "window.kernel.median.seconds", Source::kCuda));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_small_batch{
    .id = "GW602", .name = "small-batch", .since = "0.1", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
