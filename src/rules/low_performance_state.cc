// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_low_performance_state;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.pstate", "gpu.clock.sm.hertz", "gpu.utilization.ratio"};

constexpr double kWorking = 0.5;   // duty cycle from which the driver should have raised the clocks
constexpr double kLowState = 4.5;  // P5 and below: states for video and idling (NVML performance states)

// Mean of a series over the instants at which the GPU was busy.
std::optional<double> MeanWhileBusy(const Evidence& evidence, const Entity& gpu, std::string_view metric) {
  const int enough = FromText(evidence) ? 3 : 5;  // people paste fewer readings than a witness takes
  const Series& busy = evidence.Samples("gpu.utilization.ratio", gpu);
  const Series& series = evidence.Samples(metric, gpu);
  double sum = 0;
  int count = 0;
  size_t at = 0;
  for (const Point& point : series) {
    while (at + 1 < busy.size() && busy[at + 1].time_s <= point.time_s) ++at;
    if (busy.empty() || busy[at].value < kWorking || busy[at].time_s > point.time_s) continue;
    sum += point.value;
    ++count;
  }
  return count >= enough ? std::optional<double>(sum / count) : std::nullopt;
}

// The GPU of the job; in a text, which knows no job, the first that works in a low state.
Entity GpuToJudge(const RuleContext& context) {
  if (FromText(context.evidence)) {
    for (const Entity& gpu : context.evidence.EntitiesWith("gpu.pstate")) {
      if (MeanWhileBusy(context.evidence, gpu, "gpu.pstate").value_or(0) >= kLowState) return gpu;
    }
    for (const Entity& gpu : context.evidence.EntitiesWith("gpu.pstate")) {
      if (MeanWhileBusy(context.evidence, gpu, "gpu.pstate")) return gpu;
    }
  }
  return Entity::Gpu(context.analysis.gpu);
}

RuleOutcome Check(const RuleContext& context) {
  const Entity gpu = GpuToJudge(context);
  const std::optional<double> state = MeanWhileBusy(context.evidence, gpu, "gpu.pstate");
  const std::optional<double> clock = MeanWhileBusy(context.evidence, gpu, "gpu.clock.sm.hertz");
  const Fact* limit = context.evidence.Find("gpu.clock.sm.max.hertz", gpu);
  const double highest = limit != nullptr ? limit->value.AsDouble().value_or(0) : 0;
  if (!state) return RuleOutcome::CannotTell({"gpu.pstate", "gpu.utilization.ratio"});
  if (*state < kLowState) return RuleOutcome::Clear();
  // Without both clocks the state is known and what it costs is not: no share is claimed.
  const bool clocks = clock && highest > 0;
  Finding finding = clocks ? TimeFinding(kRule_low_performance_state, std::max(0.0, 1 - *clock / highest), kOneWitness)
                           : MakeFinding(kRule_low_performance_state, Severity::kWarning, kOneWitness);
  finding.Param("state", Format("P{:.0f}", *state)).Param("cost", clocks ? "@low_state.cost" : "@low_state.unseen");
  if (clocks)
    finding.Param("clock", Format("{:.0f} MHz", *clock * 1e-6)).Param("max", Format("{:.0f} MHz", highest * 1e-6));
  finding.evidence.push_back(Item("gpu.pstate", *state, Source::kDevice));
  if (clock) finding.evidence.push_back(Item("gpu.clock.sm.hertz", *clock, Source::kDevice));
  AddItem(finding, limit);
  if (FromText(context.evidence)) AddLine(finding, context.evidence.Find("gpu.pstate", gpu));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_low_performance_state{.id = "GW902",
                                                        .name = "low-performance-state",
                                                        .since = "0.1",
                                                        .stage = Stage::kSpeed,
                                                        .needs = kNeeds,
                                                        .check = &Check};

}  // namespace gpuwhy::rules
