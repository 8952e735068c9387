// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/device_memory.h"
#include "engine/lookup.h"
#include "engine/trend.h"

namespace gpuwhy::rules {

extern const Rule kRule_memory_leak;

namespace {

constexpr std::string_view kNeeds[] = {"framework.memory.allocated.bytes", "process.memory.rss.bytes",
                                       "run.steps.count"};

// TraceML confirms a creep at 1 GiB over at least 50 steps (profiling facts 2.6); on a small GPU a twentieth of it is
// as bad.
constexpr double kLargeRise = 1024.0 * 1024 * 1024;
constexpr double kShareOfDevice = 0.05;
constexpr double kNoise = 64.0 * 1024 * 1024;
constexpr uint64_t kFewestSteps = 50;

// "@memory_leak.until" with the number of steps after which `room` more bytes are used up.
void AddForecast(const SteadyState& steady, const Rise& rise, std::optional<double> room, Finding& finding) {
  finding.Param("forecast", "@memory_leak.open").Param("steps", "?");
  if (!room || *room <= 0) return;
  const double steps_per_second = static_cast<double>(steady.steps) / steady.seconds();
  finding.Param("forecast", "@memory_leak.until");
  finding.Param("steps", Format("{:.0f}", *room / rise.per_second * steps_per_second));
}

Finding Make(const char* what, const char* metric, Source source, const Rise& rise, const SteadyState& steady,
             Severity severity) {
  Finding finding = MakeFinding(kRule_memory_leak, severity, kOneWitness);
  finding.Param("what", what).Param("rise", Format("{:.0f} MiB", rise.amount / (1 << 20)));
  const double per_step = rise.per_second * steady.seconds() / static_cast<double>(steady.steps);
  finding.Param("per_step", Format("{:.1f} KiB", per_step / 1024));
  AddItem(finding, Item("memory.rise.bytes", rise.amount, source));
  finding.evidence.back().where = metric;
  return finding;
}

// A leak in the tensors of the GPU. What the driver counts as used is a second witness: the allocator's cache hides a
// rise from it only until the cache is used up.
std::optional<Finding> OnTheDevice(const RuleContext& context, const Series& device) {
  const SteadyState& steady = *context.analysis.steady;
  const std::optional<Rise> rise = SteadyRise(device, steady.start_s, steady.end_s);
  const std::optional<double> total = DeviceBytes(context);
  const double limit = std::min(kLargeRise, total ? std::max(kNoise, *total * kShareOfDevice) : kLargeRise);
  if (!rise || rise->amount < limit) return std::nullopt;
  Finding finding = Make("@memory_leak.gpu", "framework.memory.allocated.bytes", Source::kFramework, *rise, steady,
                         Severity::kWarning);
  const Series& used = context.evidence.Samples("gpu.memory.used.bytes", Entity::Gpu(context.analysis.gpu));
  const std::optional<double> seen = IncreaseOf(used, steady.start_s, steady.end_s);
  if (seen && *seen >= rise->amount / 2) {
    finding.confidence = kTwoWitnesses;
    AddItem(finding, Item("memory.rise.bytes", *seen, Source::kDevice));
    finding.evidence.back().where = "gpu.memory.used.bytes";
  }
  const double held = MaxOf(device, steady.start_s, steady.end_s).value_or(0) + HeldByOthers(context).value_or(0);
  AddForecast(steady, *rise, total ? std::optional<double>(*total - held) : std::nullopt, finding);
  return finding;
}

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.steady || analysis.steady->steps < kFewestSteps) return RuleOutcome::CannotTell({"run.steps.count"});
  const SteadyState& steady = *analysis.steady;
  const Entity process = Entity::Process(analysis.main_pid);
  const Series& device = context.evidence.Samples("framework.memory.allocated.bytes", process);
  const Series& host = context.evidence.Samples("process.memory.rss.bytes", process);
  if (device.size() < 8 && host.size() < 8) return RuleOutcome::CannotTell({"framework.memory.allocated.bytes"});
  if (std::optional<Finding> finding = OnTheDevice(context, device)) return RuleOutcome::Fired(std::move(*finding));
  const std::optional<Rise> rise = SteadyRise(host, steady.start_s, steady.end_s);
  if (!rise || rise->amount < kLargeRise) return RuleOutcome::Clear();
  // Reading a data set into a cache looks the same from outside: a note.
  Finding finding = Make("@memory_leak.host", "process.memory.rss.bytes", Source::kOs, *rise, steady, Severity::kInfo);
  AddForecast(steady, *rise, std::nullopt, finding);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_memory_leak{
    .id = "GW805", .name = "memory-leak", .since = "0.2", .stage = Stage::kMemory, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
