// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_gpu_contention;

namespace {

constexpr std::string_view kNeeds[] = {"process.gpu.sm.ratio"};

constexpr double kOtherWorks = 0.10;
constexpr size_t kFewestSamples = 8;  // one a second: the driver's shares are statistical (monitoring facts 3.2)

struct Other {
  int64_t pid = 0;
  double share = 0;
};

// The process that is not of the job and works most on the job's GPU while the job lives.
Other BusiestOther(const RuleContext& context) {
  Other best;
  for (const Entity& entity : context.evidence.EntitiesWith("process.gpu.sm.ratio")) {
    const std::vector<int64_t>& own = context.analysis.processes;
    if (std::find(own.begin(), own.end(), entity.pid()) != own.end()) continue;
    if (!context.analysis.gpu.empty() && entity.gpu() != context.analysis.gpu) continue;
    const Series& series = context.evidence.Samples("process.gpu.sm.ratio", entity);
    if (series.size() < kFewestSamples) continue;
    const double share = MeanOf(series, 0, 1e18).value_or(0);
    if (share > best.share) best = {entity.pid(), share};
  }
  return best;
}

RuleOutcome Check(const RuleContext& context) {
  if (context.evidence.EntitiesWith("process.gpu.sm.ratio").empty())
    return RuleOutcome::CannotTell({"process.gpu.sm.ratio"});
  if (context.ladder.gpu_used == GpuUsed::kNo || context.analysis.gpu.empty())
    return RuleOutcome::Clear();  // nothing to contend for
  const Other other = BusiestOther(context);
  if (other.share < kOtherWorks) return RuleOutcome::Clear();
  // The driver samples one process an engine at a time: a share among several is statistical, an upper bound of the
  // loss.
  Finding finding = TimeFinding(kRule_gpu_contention, std::min(1.0, other.share), kTwoWitnesses);
  finding.Param("pid", std::to_string(other.pid));
  finding.evidence.push_back(
      {"process.gpu.sm.ratio", Value::Of(other.share), "ratio", Source::kDriver, Format("pid {}", other.pid)});
  const Fact* name = context.evidence.Find("process.name", Entity::Process(other.pid));
  finding.Param("name", name != nullptr ? name->value.Show() : "?");
  AddItem(finding, MetricItem(context.analysis, "run.duty_cycle.ratio", Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_gpu_contention{
    .id = "GW904", .name = "gpu-contention", .since = "0.1", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
