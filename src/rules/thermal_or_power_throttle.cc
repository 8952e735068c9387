// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"
#include "knowledge/gpus.h"

namespace gpuwhy::rules {

extern const Rule kRule_thermal_or_power_throttle;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.throttle.power.seconds",      "gpu.throttle.sw_thermal.seconds",
                                       "gpu.throttle.hw_thermal.seconds", "gpu.clock.sm.hertz",
                                       "gpu.power.limit.watts",           "gpu.pstate"};

constexpr std::string_view kCounters[] = {"gpu.throttle.power.seconds", "gpu.throttle.sw_thermal.seconds",
                                          "gpu.throttle.hw_thermal.seconds", "gpu.throttle.hw_power_brake.seconds"};

constexpr double kBusy = 0.5, kFullyBusy = 0.9;
// At its power limit a healthy board keeps two thirds of its highest clock or more; heat may cost nothing in a case
// that is cooled as it should.
constexpr double kPowerLoses = 0.35, kHeatLoses = 0.10;
constexpr double kAtLimit = 0.93, kImpossible = 1.5;  // of the power limit
constexpr double kLowState = 2.5;                     // CUDA runs in P0 or P2; from P3 on something holds it down
constexpr double kLimitLow = 0.5;                     // of the board's default
constexpr double kHot = 90, kCool = 80;               // degrees (docs/explain.md, the four readings)

// What a text says of one GPU: means of its readings.
struct Reading {
  Entity gpu;
  std::optional<double> duty, clock, max_clock, power, limit, default_limit, max_limit, state, celsius;
  std::vector<const Fact*> heat, power_caps;  // reasons that are in force
};

std::optional<double> Mean(const Evidence& evidence, const char* name, const Entity& gpu) {
  const Fact* fact = evidence.Find(name, gpu);
  const std::optional<double> mean = MeanOf(evidence.Samples(name, gpu), -1e18, 1e18);
  return mean ? mean : fact != nullptr ? fact->value.AsDouble() : std::nullopt;
}

Reading Read(const Evidence& evidence, const Entity& gpu) {
  Reading reading;
  reading.gpu = gpu;
  const auto mean = [&](const char* name) { return Mean(evidence, name, gpu); };
  reading.duty = mean("gpu.utilization.ratio");
  reading.clock = mean("gpu.clock.sm.hertz");
  reading.max_clock = mean("gpu.clock.sm.max.hertz");
  reading.power = mean("gpu.power.watts");
  reading.limit = mean("gpu.power.limit.watts");
  reading.default_limit = mean("gpu.power.default_limit.watts");
  reading.max_limit = mean("gpu.power.max_limit.watts");
  reading.state = mean("gpu.pstate");
  reading.celsius = mean("gpu.temperature.celsius");
  for (const Fact* reason : evidence.WithPrefix("gpu.throttle_reason.")) {
    if (reason->entity != gpu || reason->value.AsBool() != true) continue;
    if (Contains(reason->name, "thermal")) reading.heat.insert(reading.heat.begin(), reason);
    if (Contains(reason->name, "hw_slowdown")) reading.heat.push_back(reason);  // the general word for the others
    if (Contains(reason->name, "power")) reading.power_caps.push_back(reason);
  }
  return reading;
}

Finding Describe(const Evidence& evidence, const Reading& reading, Finding finding, const char* how) {
  const auto number = [](std::optional<double> value, double scale, const char* unit) {
    return value ? Format("{:.0f} {}", *value * scale, unit) : std::string("?");
  };
  finding.Param("how", how).Param("duty", ShowPercent(reading.duty.value_or(0)));
  finding.Param("clock", number(reading.clock, 1e-6, "MHz")).Param("max", number(reading.max_clock, 1e-6, "MHz"));
  finding.Param("power", number(reading.power, 1, "W")).Param("limit", number(reading.limit, 1, "W"));
  finding.Param("temperature", number(reading.celsius, 1, "C")).Param("at", reading.celsius ? "@throttle.at" : "");
  finding.Param("state", reading.state ? Format("P{:.0f}", *reading.state) : "?");
  const std::vector<const Fact*>& reasons = reading.heat.empty() ? reading.power_caps : reading.heat;
  if (!reasons.empty()) finding.Param("reason", reasons.front()->name.substr(reasons.front()->name.rfind('.') + 1));
  for (const Fact* reason : reasons) AddLine(finding, reason);
  for (const char* name :
       {"gpu.pstate", "gpu.power.watts", "gpu.clock.sm.hertz", "gpu.temperature.celsius", "gpu.utilization.ratio"})
    AddLine(finding, evidence.Find(name, reading.gpu));
  return finding;
}

// What the clock lacks of its highest, 0..1.
std::optional<double> LostClock(const Reading& reading) {
  if (!reading.clock || !reading.max_clock || *reading.max_clock <= 0) return std::nullopt;
  return std::max(0.0, 1 - *reading.clock / *reading.max_clock);
}

// The driver says that it holds the clock down, and the clock is as low as that.
std::optional<Finding> Held(const Evidence& evidence, const Reading& reading) {
  const bool heat = !reading.heat.empty();
  if (!heat && reading.power_caps.empty()) return std::nullopt;
  const bool clocks = LostClock(reading).has_value();
  if (!clocks && !heat) return std::nullopt;  // the power limit alone is how a board works
  const double lost = LostClock(reading).value_or(kShareWarning);
  if (lost < (heat ? kHeatLoses : kPowerLoses)) return std::nullopt;
  const bool impossible =
      !heat && reading.power && reading.limit && *reading.limit > 0 && *reading.power > kImpossible * *reading.limit;
  Finding finding = clocks ? TimeFinding(kRule_thermal_or_power_throttle, lost, kStated)
                           : MakeFinding(kRule_thermal_or_power_throttle, Severity::kWarning, kOneWitness);
  const char* how = impossible ? "@throttle.impossible" : clocks ? "@throttle.reason" : "@throttle.heat";
  return Describe(evidence, reading, std::move(finding), how);
}

// A limit below half of what the board has by default, or of the most that it takes; not where the clock is high.
std::optional<Finding> LowLimit(const Evidence& evidence, const Reading& reading) {
  const std::optional<double> lost = LostClock(reading);
  if (lost && *lost < kPowerLoses) return std::nullopt;  // fast enough all the same
  const Fact* name = evidence.Find("gpu.name", reading.gpu);
  const std::optional<knowledge::GpuFacts> board = knowledge::FindGpu(name != nullptr ? name->value.Show() : "");
  const double usual = reading.default_limit.value_or(board ? board->watts : 0);
  if (usual > 0 && *reading.limit < kLimitLow * usual) {
    const bool stated = reading.default_limit.has_value();
    Finding finding =
        MakeFinding(kRule_thermal_or_power_throttle, Severity::kWarning, stated ? kTwoWitnesses : kOneWitness);
    finding.Param("usual", Format("{:.0f} W", usual));
    AddItem(finding, name);
    return Describe(evidence, reading, std::move(finding), "@throttle.low_limit");
  }
  if (!reading.max_limit || *reading.limit >= kLimitLow * *reading.max_limit) return std::nullopt;
  Finding finding =
      MakeFinding(kRule_thermal_or_power_throttle, Severity::kWarning, lost ? kTwoWitnesses : kOneWitness);
  finding.Param("usual", Format("{:.0f} W", *reading.max_limit));
  AddLine(finding, evidence.Find("gpu.power.max_limit.watts", reading.gpu));
  return Describe(evidence, reading, std::move(finding), lost ? "@throttle.low_of_most_slow" : "@throttle.low_of_most");
}

// No reason is shown: fully busy, at its limit, and slower or with less power than a board of its kind.
std::optional<Finding> AtLimit(const Evidence& evidence, const Reading& reading) {
  if (*reading.duty < kFullyBusy || !reading.power || !reading.limit || *reading.limit <= 0) return std::nullopt;
  if (*reading.power < kAtLimit * *reading.limit || *reading.power > kImpossible * *reading.limit) return std::nullopt;
  if (reading.state.value_or(0) > kLowState) {
    const bool cool = reading.celsius && *reading.celsius < kCool;
    return Describe(evidence, reading, MakeFinding(kRule_thermal_or_power_throttle, Severity::kWarning, kTwoWitnesses),
                    cool ? "@throttle.at_limit_cool" : "@throttle.at_limit");
  }
  return LowLimit(evidence, reading);
}

// A text without the load: the driver holds the clock down at this moment. Nobody says for how long, so it is a note,
// unless the hardware itself slowed down (SW reasons come and go with every burst) and the clock is far below its best.
std::optional<Finding> HeldNow(const Evidence& evidence, const Reading& reading) {
  const Fact* idle = evidence.Find("gpu.throttle_reason.gpu_idle", reading.gpu);
  if (reading.heat.empty() || (idle != nullptr && idle->value.AsBool() == true)) return std::nullopt;
  const bool hardware = std::any_of(reading.heat.begin(), reading.heat.end(),
                                    [](const Fact* reason) { return Contains(reason->name, "hw_"); });
  const double lost = LostClock(reading).value_or(0);
  if (hardware && lost >= kPowerLoses)
    return Describe(evidence, reading, MakeFinding(kRule_thermal_or_power_throttle, Severity::kWarning, kTwoWitnesses),
                    "@throttle.now_slow");
  return Describe(evidence, reading, MakeFinding(kRule_thermal_or_power_throttle, Severity::kInfo, kOneWitness),
                  "@throttle.now");
}

RuleOutcome CheckText(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  bool known = false;
  for (const Entity& gpu : evidence.EntitiesWith("gpu.utilization.ratio")) {
    const Reading reading = Read(evidence, gpu);
    if (!reading.duty) continue;
    known = known || reading.power || reading.clock || !reading.heat.empty();
    if (*reading.duty < kBusy) continue;  // without load the clock is low for another reason
    std::optional<Finding> finding = Held(evidence, reading);
    if (!finding) finding = AtLimit(evidence, reading);
    if (!finding && reading.celsius.value_or(0) > kHot)
      finding = Describe(evidence, reading, MakeFinding(kRule_thermal_or_power_throttle, Severity::kInfo, kWeak),
                         "@throttle.hot");
    if (finding) return RuleOutcome::Fired(*finding);
  }
  for (const Entity& gpu : evidence.Entities(EntityKind::kGpu)) {
    const Reading reading = Read(evidence, gpu);
    if (reading.duty) continue;
    known = known || !reading.heat.empty();
    if (const std::optional<Finding> finding = HeldNow(evidence, reading)) return RuleOutcome::Fired(*finding);
  }
  return known ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"gpu.power.watts", "gpu.clock.sm.hertz"});
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
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
  finding.Param("how", "@throttle.counters");
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
