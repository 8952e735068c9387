// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_storage_bound_input;

namespace {

constexpr std::string_view kNeeds[] = {"process.uninterruptible.ratio", "process.read.bytes", "input.wait.ratio"};

// Readings a second apart of whether a process slept uninterruptibly ("D" in /proc/PID/stat: it waits for a device).
constexpr size_t kFewestReadings = 10;
constexpr double kOftenBlocked = 0.30;
constexpr double kMostlyBlocked = 0.50;
constexpr double kSomeBytes = 1 << 20;

struct Reading {
  double blocked = 0;  // share of readings
  size_t readings = 0;
  double bytes = 0;  // that came from storage
};

// The processes that load: those that the main process started; without such the main process itself.
Reading ReadersOf(const RuleContext& context, double from_s, double to_s) {
  Reading own, workers;
  for (const Entity& entity : context.evidence.EntitiesWith("process.uninterruptible.ratio")) {
    const Fact* parent = context.evidence.Find("process.parent", entity);
    const bool worker = parent != nullptr && parent->value.AsInt() == context.analysis.main_pid;
    if (!worker && entity.pid() != context.analysis.main_pid) continue;
    Reading& sum = worker ? workers : own;
    for (const Point& point : context.evidence.Samples("process.uninterruptible.ratio", entity)) {
      if (point.time_s < from_s || point.time_s > to_s) continue;
      sum.blocked += point.value;
      ++sum.readings;
    }
    sum.bytes += IncreaseOf(context.evidence.Samples("process.read.bytes", entity), from_s, to_s).value_or(0);
  }
  Reading& best = workers.readings >= kFewestReadings ? workers : own;
  if (best.readings > 0) best.blocked /= static_cast<double>(best.readings);
  return best;
}

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.steady || analysis.steady->seconds() <= 0) return RuleOutcome::CannotTell({"input.wait.ratio"});
  if (context.ladder.gpu_used == GpuUsed::kNo) return RuleOutcome::Clear();  // an idle GPU has another cause
  const SteadyState& steady = *analysis.steady;
  const double wait = analysis.breakdown ? analysis.breakdown->input_wait : steady.wait_s / steady.seconds();
  if (wait < kShareInfo) return RuleOutcome::Clear();
  const Reading reading = ReadersOf(context, steady.start_s, steady.end_s);
  if (reading.readings < kFewestReadings) return RuleOutcome::CannotTell({"process.uninterruptible.ratio"});
  if (reading.blocked < kOftenBlocked || reading.bytes < kSomeBytes) return RuleOutcome::Clear();
  // The part of the wait in which the loading processes themselves waited for a device; the whole where that is most.
  const bool most = reading.blocked >= kMostlyBlocked;
  const double share = most ? wait : wait * reading.blocked;
  if (share < kShareInfo) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_storage_bound_input, share, kTwoWitnesses);
  if (most) finding.explains = {"input-pipeline-bound"};
  const double rate = reading.bytes / steady.seconds() * 1e-6;
  finding.Param("blocked", ShowPercent(reading.blocked)).Param("rate", Format("{:.1f} MB/s", rate));
  AddItem(finding, Item("process.uninterruptible.ratio", reading.blocked, Source::kOs));
  AddItem(finding, Item("process.read.bytes", reading.bytes, Source::kOs));
  AddItem(finding, MetricItem(analysis, "input.wait.ratio", Source::kFramework));
  AddItem(finding, LoaderFact(context, "workers"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_storage_bound_input{.id = "GW502",
                                                      .name = "storage-bound-input",
                                                      .since = "0.2",
                                                      .stage = Stage::kSpeed,
                                                      .needs = kNeeds,
                                                      .check = &Check};

}  // namespace gpuwhy::rules
