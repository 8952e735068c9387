// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_exposed_communication;

namespace {

constexpr std::string_view kNeeds[] = {"window.seconds"};

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.breakdown) return RuleOutcome::CannotTell({"window.seconds"});
  const double share = analysis.breakdown->communication;
  if (share < kShareInfo) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_exposed_communication, share, kStated);
  for (const char* name : {"process.env.WORLD_SIZE", "process.env.NCCL_P2P_DISABLE", "process.env.NCCL_IB_DISABLE",
                           "process.env.NCCL_SHM_DISABLE"})
    AddItem(finding, MainFact(context, name));
  AddItem(finding, MetricItem(analysis, "run.gpu_busy.ratio", Source::kCuda));
  AddItem(finding, MetricItem(analysis, "gpu.pcie.rx.bytes_per_second", Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_exposed_communication{.id = "GW906",
                                                        .name = "exposed-communication",
                                                        .since = "0.2",
                                                        .stage = Stage::kSpeed,
                                                        .needs = kNeeds,
                                                        .check = &Check};

}  // namespace gpuwhy::rules
