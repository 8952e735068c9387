// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_single_gpu_code;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.utilization.ratio", "process.gpu.type"};

constexpr size_t kEnoughReadings = 3;  // one moment proves nothing
constexpr double kWorks = 0.30;        // normal for a GPU that trains (docs/explain.md, the four readings)
constexpr double kStands = 0.02;       // a desktop or a context

struct Use {
  Entity gpu;
  double mean = 0, highest = 0;
};

// Live, only GPUs that nobody else uses count; a text shows no more than its readings.
bool OthersOn(const RuleContext& context, const Entity& gpu) {
  const std::vector<int64_t>& ours = context.analysis.processes;
  for (const Entity& process : context.evidence.Entities(EntityKind::kProcessOnGpu)) {
    const bool mine = std::find(ours.begin(), ours.end(), process.pid()) != ours.end();
    if (process.gpu() == gpu.id && !mine && !ours.empty()) return true;
  }
  return false;
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  std::vector<Use> working, idle;
  size_t known = 0;
  for (const Entity& gpu : evidence.EntitiesWith("gpu.utilization.ratio")) {
    const Series& series = evidence.Samples("gpu.utilization.ratio", gpu);
    if (series.size() < kEnoughReadings) continue;
    ++known;
    const Use use{gpu, MeanOf(series, -1e18, 1e18).value_or(0), MaxOf(series, -1e18, 1e18).value_or(0)};
    if (use.mean >= kWorks) working.push_back(use);
    if (use.highest <= kStands && !OthersOn(context, gpu)) idle.push_back(use);
  }
  if (known < 2) return RuleOutcome::CannotTell({"gpu.utilization.ratio"});
  if (working.size() != 1 || idle.empty() || working.size() + idle.size() != known) return RuleOutcome::Clear();
  // Nothing says that the job wanted the others: a note.
  Finding finding = MakeFinding(kRule_single_gpu_code, Severity::kInfo, kOneWitness);
  finding.Param("idle", std::to_string(idle.size())).Param("duty", ShowPercent(working.front().mean));
  AddItem(finding, evidence.Find("gpu.utilization.ratio", working.front().gpu));
  for (const Use& use : idle) AddItem(finding, evidence.Find("gpu.utilization.ratio", use.gpu));
  finding.evidence.push_back(Item("gpu.utilization.ratio", working.front().mean, Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_single_gpu_code{
    .id = "GW403", .name = "single-gpu-code", .since = "0.1", .stage = Stage::kCode, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
