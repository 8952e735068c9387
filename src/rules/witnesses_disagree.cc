// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_witnesses_disagree;

namespace {

constexpr std::string_view kNeeds[] = {"window.kernels.count", "framework.torch.parameters.cpu_bytes"};

RuleOutcome Check(const RuleContext& context) {
  const WitnessStatement& cuda = context.ladder.rung(Source::kCuda);
  if (!context.ladder.disagree)
    return cuda.state == "ok" ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"window.kernels.count"});
  Finding finding = MakeFinding(kRule_witnesses_disagree, Severity::kWarning, kOneWitness);
  finding.Param("cuda", std::string(GpuUsedName(cuda.gpu_used)));
  finding.Param("framework", std::string(GpuUsedName(context.ladder.rung(Source::kFramework).gpu_used)));
  finding.Param("driver", std::string(GpuUsedName(context.ladder.rung(Source::kDriver).gpu_used)));
  AddItem(finding, MetricItem(context.analysis, "window.kernels.count", Source::kCuda));
  AddItem(finding, MainFact(context, "framework.torch.parameters.cpu_bytes"));
  AddItem(finding, MainFact(context, "framework.torch.parameters.cuda_bytes"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_witnesses_disagree{.id = "GW003",
                                                     .name = "witnesses-disagree",
                                                     .since = "0.1",
                                                     .stage = Stage::kVerdict,
                                                     .needs = kNeeds,
                                                     .check = &Check};

}  // namespace gpuwhy::rules
