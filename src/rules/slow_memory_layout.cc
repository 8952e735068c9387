// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/kernel_names.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_slow_memory_layout;

namespace {

constexpr std::string_view kNeeds[] = {"window.seconds"};

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  const std::optional<KernelTimes> times = ViewKernels(context.evidence, analysis.main_pid);
  if (!times || !analysis.breakdown || times->total_s <= 0) return RuleOutcome::CannotTell({"window.seconds"});
  const double share = analysis.breakdown->gpu_compute * times->layout_s / times->total_s;
  if (share < kShareInfo) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_slow_memory_layout, share, kStated);
  AddItem(finding, Item("kernels.layout.ratio", times->layout_s / times->total_s, Source::kCuda));
  AddItem(finding, MainFact(context, "framework.torch.amp"));
  AddItem(finding, MetricItem(analysis, "run.gpu_busy.ratio", Source::kCuda));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_slow_memory_layout{.id = "GW702",
                                                     .name = "slow-memory-layout",
                                                     .since = "0.2",
                                                     .stage = Stage::kSpeed,
                                                     .needs = kNeeds,
                                                     .check = &Check};

}  // namespace gpuwhy::rules
