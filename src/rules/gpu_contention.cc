// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/format.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

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

constexpr size_t kFewestReadings = 3;  // of a text: pmon prints one a second

// Two computing processes that work on one GPU. Which of them is the user's the text does not say.
RuleOutcome CheckText(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  std::map<std::string, std::vector<Other>> working;
  bool known = false;
  for (const Entity& entity : evidence.EntitiesWith("process.gpu.sm.ratio")) {
    const Series& series = evidence.Samples("process.gpu.sm.ratio", entity);
    if (series.size() < kFewestReadings) continue;
    known = true;
    const Fact* type = evidence.Find("process.gpu.type", entity);
    const bool draws = type != nullptr && type->value.AsText() == "G";
    const double share = MeanOf(series, -1e18, 1e18).value_or(0);
    if (!draws && share >= kOtherWorks) working[entity.gpu()].push_back({entity.pid(), share});
  }
  for (auto& [gpu, processes] : working) {
    if (processes.size() < 2) continue;
    std::sort(processes.begin(), processes.end(), [](const Other& a, const Other& b) { return a.share > b.share; });
    Finding finding = TimeFinding(kRule_gpu_contention, processes[1].share, kOneWitness);
    finding.severity = std::min(finding.severity, Severity::kWarning);  // they may be ranks of one job
    finding.Param("how", "@contention.text").Param("pid", std::to_string(processes[1].pid));
    finding.Param("first", std::to_string(processes[0].pid)).Param("first_share", ShowPercent(processes[0].share));
    for (const Other& other : processes)
      AddItem(finding, evidence.Find("process.gpu.sm.ratio", Entity::ProcessOnGpu(other.pid, gpu)));
    return RuleOutcome::Fired(std::move(finding));
  }
  return known ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"process.gpu.sm.ratio"});
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
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
  const bool named = name != nullptr && name->value.known();
  finding.Param("how", named ? "@contention.live" : "@contention.unnamed");
  if (named) finding.Param("name", name->value.Show());
  AddItem(finding, MetricItem(context.analysis, "run.duty_cycle.ratio", Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_gpu_contention{
    .id = "GW904", .name = "gpu-contention", .since = "0.1", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
