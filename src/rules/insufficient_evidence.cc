// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_insufficient_evidence;

namespace {

constexpr std::string_view kNeeds[] = {"window.kernels.count", "process.libcuda"};

// The one command that would settle it, by what is missing.
std::string NextCommand(const RuleContext& context) {
  if (context.analysis.processes.empty()) return "gpuwhy run -- python train.py";
  const bool short_job = context.analysis.wall_s > 0 && context.analysis.wall_s < 30;
  return short_job ? "gpuwhy run -- CMD   # let it train for a minute or more" : "gpuwhy doctor";
}

RuleOutcome Check(const RuleContext& context) {
  if (context.ladder.gpu_used != GpuUsed::kUnknown || context.ladder.disagree) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_insufficient_evidence, Severity::kInfo, 0.3);
  finding.next = NextCommand(context);
  finding.Param("missing", context.ladder.worked ? "window.kernels.count" : "run.steps.count");
  AddItem(finding, MetricItem(context.analysis, "run.wall.seconds", Source::kOs));
  AddItem(finding, MetricItem(context.analysis, "job.cpu.seconds", Source::kOs));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_insufficient_evidence{.id = "GW002",
                                                        .name = "insufficient-evidence",
                                                        .since = "0.1",
                                                        .stage = Stage::kVerdict,
                                                        .needs = kNeeds,
                                                        .check = &Check};

}  // namespace gpuwhy::rules
