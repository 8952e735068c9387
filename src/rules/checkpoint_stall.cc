// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_checkpoint_stall;

namespace {

constexpr std::string_view kNeeds[] = {"checkpoint.ratio"};

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (context.ladder.gpu_used == GpuUsed::kNo) return RuleOutcome::Clear();  // an idle GPU has another cause
  std::optional<double> share;
  double confidence = kOneWitness;
  if (analysis.steady && analysis.steady->seconds() > 0) share = analysis.steady->save_s / analysis.steady->seconds();
  // With a window the part that the GPU worked through is known too; the marks of the whole run say how often.
  if (analysis.breakdown && (analysis.steady || analysis.window->in_save.total() > 0)) {
    share = analysis.breakdown->checkpoint;
    confidence = kStated;
  }
  if (!share) return RuleOutcome::CannotTell({"checkpoint.ratio"});
  if (*share < kShareInfo) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_checkpoint_stall, *share, confidence);
  for (const char* metric : {"checkpoint.ratio", "run.steady.seconds", "run.steps.count"})
    AddItem(finding, MetricItem(analysis, metric, Source::kFramework));
  AddItem(finding, MetricItem(analysis, "run.duty_cycle.ratio", Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_checkpoint_stall{.id = "GW605",
                                                   .name = "checkpoint-stall",
                                                   .since = "0.2",
                                                   .stage = Stage::kSpeed,
                                                   .needs = kNeeds,
                                                   .check = &Check};

}  // namespace gpuwhy::rules
