// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_launch_bound_small_kernels;

namespace {

constexpr std::string_view kNeeds[] = {"window.kernel.median.seconds", "window.launches_per_second",
                                       "run.gpu_busy.ratio"};

// A launch from Python costs 5 to 30 us of host time (an eager operator of PyTorch); kernels whose median is longer
// than that keep a host ahead of the GPU, so an idle GPU then has another reason.
constexpr double kShortKernel = 30e-6;

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.breakdown || !analysis.window || analysis.window->kernels == 0)
    return RuleOutcome::CannotTell({"window.kernel.median.seconds"});
  const double share = analysis.breakdown->launch;
  if (share < kShareInfo || analysis.window->median_kernel_s > kShortKernel) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_launch_bound_small_kernels, share, analysis.sync ? kStated : kTwoWitnesses);
  finding.Param("median", Format("{:.1f}", analysis.window->median_kernel_s * 1e6));
  finding.Param("rate", Format("{:.0f}", static_cast<double>(analysis.window->kernels) / analysis.window->seconds));
  for (const char* metric : {"window.kernel.median.seconds", "window.launches_per_second", "run.gpu_busy.ratio"})
    AddItem(finding, MetricItem(analysis, metric, Source::kCuda));
  AddItem(finding, MainFact(context, "framework.torch.compile_used"));
  AddItem(finding, MetricItem(analysis, "run.duty_cycle.ratio", Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_launch_bound_small_kernels{.id = "GW601",
                                                             .name = "launch-bound-small-kernels",
                                                             .since = "0.1",
                                                             .stage = Stage::kSpeed,
                                                             .needs = kNeeds,
                                                             .check = &Check};

}  // namespace gpuwhy::rules
