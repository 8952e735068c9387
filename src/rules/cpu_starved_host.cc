// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_cpu_starved_host;

namespace {

constexpr std::string_view kNeeds[] = {"job.cpu.seconds", "host.cpu.allowed"};

// So much of what the job may use is in use that more threads or workers cannot help; a scheduler's tick and the
// kernel's own work never leave all of it.
constexpr double kExhausted = 0.90;
constexpr double kFewestSeconds = 5;
// Share of time the main thread was ready to run and stood in the queue (schedstat): above, others hold the cores.
constexpr double kQueued = 0.10;

// Cores that the job used from `from_s` to `to_s`, its children included.
std::optional<double> CoresUsed(const RuleContext& context, double from_s, double to_s) {
  for (const Entity& job : context.evidence.EntitiesWith("job.cpu.seconds")) {
    const Series& series = context.evidence.Samples("job.cpu.seconds", job);
    const Point* first = nullptr;
    const Point* last = nullptr;
    for (const Point& point : series) {
      if (point.time_s < from_s || point.time_s > to_s) continue;
      if (first == nullptr) first = &point;
      last = &point;
    }
    if (first == nullptr || last->time_s - first->time_s < kFewestSeconds) continue;
    return (last->value - first->value) / (last->time_s - first->time_s);
  }
  return std::nullopt;
}

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.steady || analysis.steady->seconds() < kFewestSeconds)
    return RuleOutcome::CannotTell({"run.steady.seconds"});
  const SteadyState& steady = *analysis.steady;
  const std::optional<double> cores = CoresAllowed(context.evidence);
  const std::optional<double> used = CoresUsed(context, steady.start_s, steady.end_s);
  if (!cores) return RuleOutcome::CannotTell({"host.cpu.allowed"});
  if (!used) return RuleOutcome::CannotTell({"job.cpu.seconds"});
  if (context.ladder.gpu_used == GpuUsed::kNo) return RuleOutcome::Clear();  // a job on the CPU is meant to fill it
  const std::optional<double> queue =
      IncreaseOf(context.evidence.Samples("process.run_delay.seconds", Entity::Process(analysis.main_pid)),
                 steady.start_s, steady.end_s);
  const double queued = queue ? std::min(1.0, *queue / steady.seconds()) : 0;
  if (*used < kExhausted * *cores && queued < kQueued) return RuleOutcome::Clear();
  double lost = steady.wait_s / steady.seconds();
  if (analysis.breakdown)
    lost = analysis.breakdown->input_wait + analysis.breakdown->launch + analysis.breakdown->host_work;
  if (lost < kShareInfo) return RuleOutcome::Clear();  // all cores in use, and the GPU is none the worse
  Finding finding = TimeFinding(kRule_cpu_starved_host, lost, queued >= kQueued ? kTwoWitnesses : kOneWitness);
  finding.explains = {"input-pipeline-bound", "launch-bound-small-kernels", "python-host-bound",
                      "worker-restart-each-epoch"};
  finding.Param("used", Format("{:.1f}", *used)).Param("cores", Format("{:.1f}", *cores));
  AddItem(finding, Item("job.cpu.cores", *used, Source::kOs));
  if (queue) AddItem(finding, Item("process.run_delay.ratio", queued, Source::kOs));
  for (const char* name : {"host.cpu.allowed", "host.cgroup.cpu_limit", "host.cpu.count"})
    AddItem(finding, context.evidence.Find(name));
  AddItem(finding, LoaderFact(context, "workers"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_cpu_starved_host{.id = "GW608",
                                                   .name = "cpu-starved-host",
                                                   .since = "0.2",
                                                   .stage = Stage::kSpeed,
                                                   .needs = kNeeds,
                                                   .check = &Check};

}  // namespace gpuwhy::rules
