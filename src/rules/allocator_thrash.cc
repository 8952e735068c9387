// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_allocator_thrash;

namespace {

constexpr std::string_view kNeeds[] = {"framework.memory.device_allocs", "framework.memory.retries"};

// In steady state the cache answers every request: no allocation from the driver at all. One in every other step is a
// loop that undoes the cache; cudaMalloc and cudaFree synchronise the device each time (CUDA C++ Programming Guide).
constexpr double kAllocsPerStep = 0.5;
constexpr double kRetriesPerStep = 0.01;
constexpr uint64_t kFewestSteps = 20;

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.steady || analysis.steady->steps < kFewestSteps) return RuleOutcome::CannotTell({"run.steps.count"});
  const SteadyState& steady = *analysis.steady;
  const Entity process = Entity::Process(analysis.main_pid);
  const Series& allocs = context.evidence.Samples("framework.memory.device_allocs", process);
  const Series& retries = context.evidence.Samples("framework.memory.retries", process);
  if (allocs.size() < 2 && retries.size() < 2) return RuleOutcome::CannotTell({"framework.memory.device_allocs"});
  const auto steps = static_cast<double>(steady.steps);
  const double per_step = IncreaseOf(allocs, steady.start_s, steady.end_s).value_or(0) / steps;
  const double retried = IncreaseOf(retries, steady.start_s, steady.end_s).value_or(0);
  const bool full = retried / steps >= kRetriesPerStep;
  if (per_step < kAllocsPerStep && !full) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_allocator_thrash, Severity::kWarning, kStated);
  finding.explains = {"frequent-sync", "launch-bound-small-kernels", "python-host-bound"};
  finding.Param("per_step", Format("{:.1f}", per_step)).Param("retries", Format("{:.0f}", retried));
  finding.Param("how", full ? "@allocator_thrash.retries" : "@allocator_thrash.emptied");
  AddItem(finding, Item("memory.device_allocs_per_step", per_step, Source::kFramework));
  AddItem(finding, Item("framework.memory.retries", retried, Source::kFramework));
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
