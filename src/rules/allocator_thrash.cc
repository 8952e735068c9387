// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "engine/device_memory.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_allocator_thrash;

namespace {

constexpr std::string_view kNeeds[] = {"framework.memory.device_allocs", "framework.memory.retries"};

// In steady state the cache answers every request: no allocation from the driver at all. One in every other step is a
// loop that undoes the cache; cudaMalloc and cudaFree synchronise the device each time (CUDA C++ Programming Guide).
constexpr double kAllocsPerStep = 0.5;
constexpr double kRetriesPerStep = 0.01;
constexpr double kFewestRetries = 3;  // one or two: the first evaluation, the longest batch
constexpr uint64_t kFewestSteps = 20;
constexpr double kSmallestSegment = 2.0 * 1024 * 1024;  // kSmallBuffer of c10's CUDACachingAllocator

// What a counter gains in the steady state, at the rate between its first and last reading there (about one a second).
std::optional<double> Gained(const Series& counter, const SteadyState& steady) {
  const Point *first = nullptr, *last = nullptr;
  for (const Point& point : counter) {
    if (point.time_s < steady.start_s || point.time_s > steady.end_s) continue;
    if (first == nullptr) first = &point;
    last = &point;
  }
  if (first == nullptr || last->time_s <= first->time_s) return std::nullopt;
  return (last->value - first->value) / (last->time_s - first->time_s) * steady.seconds();
}

// Segments that stay are growth (a leak, longer inputs), not thrash: memory that the allocator holds then rises by at
// least a segment an allocation, half of it allowed for what it returns.
bool Grows(const Series& reserved, const SteadyState& steady, double allocs) {
  const std::optional<double> rise = Gained(reserved, steady);
  return rise && *rise >= allocs * kSmallestSegment / 2;
}

// How full the memory was, which tells an emptied cache from a memory that is too small.
void AddFullness(const RuleContext& context, const Series& reserved, Finding& finding) {
  const std::optional<double> most = MaxOf(reserved, context.analysis.steady->start_s, context.analysis.steady->end_s);
  const std::optional<double> total = DeviceBytes(context);
  if (most && total) AddItem(finding, Item("memory.reserved.ratio", *most / *total, Source::kFramework));
}

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.steady || analysis.steady->steps < kFewestSteps) return RuleOutcome::CannotTell({"run.steps.count"});
  const SteadyState& steady = *analysis.steady;
  const Entity process = Entity::Process(analysis.main_pid);
  const Series& allocs = context.evidence.Samples("framework.memory.device_allocs", process);
  const Series& retries = context.evidence.Samples("framework.memory.retries", process);
  const std::optional<double> asked = Gained(allocs, steady);
  const std::optional<double> again = Gained(retries, steady);
  const auto steps = static_cast<double>(steady.steps);
  const double retried = again.value_or(0), per_step = asked.value_or(0) / steps;
  const bool full = retried >= kFewestRetries && retried / steps >= kRetriesPerStep;
  // An older torch counts the retries alone: that there are none says nothing of a cache that the loop empties.
  if (!full && !asked) return RuleOutcome::CannotTell({"framework.memory.device_allocs"});
  const Series& reserved = context.evidence.Samples("framework.memory.reserved.bytes", process);
  if (!full && (per_step < kAllocsPerStep || Grows(reserved, steady, *asked))) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_allocator_thrash, Severity::kWarning, kStated);
  finding.explains = {"frequent-sync", "launch-bound-small-kernels", "python-host-bound"};
  finding.Param("how", full ? "@allocator_thrash.retries" : "@allocator_thrash.emptied");
  finding.Param("per_step", Format("{:.1f}", per_step)).Param("retries", Format("{:.0f}", retried));
  if (asked) AddItem(finding, Item("memory.device_allocs_per_step", per_step, Source::kFramework));
  if (again) AddItem(finding, Item("framework.memory.retries", retried, Source::kFramework));
  AddFullness(context, reserved, finding);
  AddItem(finding, MainFact(context, "process.env.PYTORCH_CUDA_ALLOC_CONF"));
  AddItem(finding, MainFact(context, "process.env.PYTORCH_NO_CUDA_MEMORY_CACHING"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_allocator_thrash{.id = "GW807",
                                                   .name = "allocator-thrash",
                                                   .since = "0.2",
                                                   .stage = Stage::kSpeed,
                                                   .needs = kNeeds,
                                                   .check = &Check};

}  // namespace gpuwhy::rules
