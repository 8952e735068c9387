// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_frequent_sync;

namespace {

constexpr std::string_view kNeeds[] = {"window.sync.ratio", "window.syncs_per_second"};

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.sync || !analysis.breakdown) return RuleOutcome::CannotTell({"window.sync.ratio"});
  const double share = analysis.breakdown->sync;
  if (share < kShareInfo) return RuleOutcome::Clear();
  // A relation of two windows, not a direct reading: see breakdown.cc for how the share is found.
  Finding finding = TimeFinding(kRule_frequent_sync, share, kTwoWitnesses);
  const SyncView& sync = *analysis.sync;
  const bool steps = sync.steps >= 1;
  if (steps) finding.Param("per_step", Format("{:.1f}", static_cast<double>(sync.syncs) / sync.steps));
  finding.Param("rate", steps ? "@sync.per_step" : "@sync.per_second");
  finding.Param("per_second", Format("{:.0f}", static_cast<double>(sync.syncs) / sync.seconds));
  for (const char* metric : {"window.sync.ratio", "window.syncs_per_second", "run.gpu_busy.ratio"})
    AddItem(finding, MetricItem(analysis, metric, Source::kCuda));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_frequent_sync{
    .id = "GW603", .name = "frequent-sync", .since = "0.1", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
