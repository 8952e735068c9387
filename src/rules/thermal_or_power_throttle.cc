// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_thermal_or_power_throttle;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.throttle.power.seconds", "gpu.throttle.sw_thermal.seconds",
                                       "gpu.throttle.hw_thermal.seconds", "gpu.clock.sm.hertz"};

constexpr std::string_view kCounters[] = {"gpu.throttle.power.seconds", "gpu.throttle.sw_thermal.seconds",
                                          "gpu.throttle.hw_thermal.seconds", "gpu.throttle.hw_power_brake.seconds"};

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  const Entity gpu = Entity::Gpu(analysis.gpu);
  std::string worst;
  double seconds = 0;
  bool known = false;
  double span = 0;
  for (const std::string_view counter : kCounters) {
    const Series& series = context.evidence.Samples(counter, gpu);
    if (series.size() < 2) continue;
    known = true;
    span = std::max(span, series.back().time_s - series.front().time_s);
    const double grown = series.back().value - series.front().value;
    if (grown > seconds) {
      seconds = grown;
      worst = counter;
    }
  }
  if (!known || span <= 0) return RuleOutcome::CannotTell({"gpu.throttle.power.seconds"});
  const double held = std::min(1.0, seconds / span);
  const Fact* limit = context.evidence.Find("gpu.clock.sm.max.hertz", gpu);
  const double highest = limit != nullptr ? limit->value.AsDouble().value_or(0) : 0;
  const std::optional<double> clock = MeanOf(context.evidence.Samples("gpu.clock.sm.hertz", gpu), 0, 1e18);
  // What is lost is what the clock lacks while it is held down: a GPU at its power cap with 97 % of its clock loses 3
  // %.
  const double lost = highest > 0 && clock ? held * std::max(0.0, 1 - *clock / highest) : 0;
  if (held < kShareInfo || lost < kShareInfo) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_thermal_or_power_throttle, lost, kStated);
  finding.Param("held", ShowPercent(held))
      .Param("counter", worst)
      .Param("clock", Format("{:.0f} MHz", *clock * 1e-6))
      .Param("max", Format("{:.0f} MHz", highest * 1e-6));
  finding.evidence.push_back(Item(worst, seconds, Source::kDevice));
  for (const char* metric : {"gpu.clock.sm.hertz", "gpu.temperature.celsius", "gpu.power.watts"})
    AddItem(finding, MetricItem(analysis, metric, Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_thermal_or_power_throttle{.id = "GW901",
                                                            .name = "thermal-or-power-throttle",
                                                            .since = "0.1",
                                                            .stage = Stage::kSpeed,
                                                            .needs = kNeeds,
                                                            .check = &Check};

}  // namespace gpuwhy::rules
