// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_gpu_allocated_but_idle;

namespace {

constexpr std::string_view kNeeds[] = {"process.gpu.memory.bytes", "window.kernels.count", "process.gpu.sm.ratio"};

constexpr double kWatchSeconds = 10;  // a pause between two epochs is shorter

// Device memory that the job's processes hold, by the driver, else by the framework's allocator.
double HeldBytes(const RuleContext& context) {
  double held = 0;
  for (const int64_t pid : context.analysis.processes) {
    for (const Entity& entity : context.evidence.EntitiesWith("process.gpu.memory.bytes")) {
      if (entity.pid() == pid) held += context.evidence.Samples("process.gpu.memory.bytes", entity).back().value;
    }
  }
  if (held > 0) return held;
  const Fact* reserved = MainFact(context, "framework.torch.memory.0.reserved_bytes");
  return reserved != nullptr ? reserved->value.AsDouble().value_or(0) : 0;
}

std::optional<double> BusiestShare(const RuleContext& context) {
  std::optional<double> highest;
  for (const Entity& entity : context.evidence.EntitiesWith("process.gpu.sm.ratio")) {
    for (const int64_t pid : context.analysis.processes) {
      if (entity.pid() != pid) continue;
      const std::optional<double> mean =
          MeanOf(context.evidence.Samples("process.gpu.sm.ratio", entity), kWatchSeconds, 1e18);
      if (mean && (!highest || *mean > *highest)) highest = mean;
    }
  }
  return highest;
}

constexpr size_t kFewestReadings = 3;  // of a text

// A computing process whose every reading is 0. A few seconds prove nothing: a note.
RuleOutcome CheckText(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  bool known = false;
  for (const Entity& entity : evidence.EntitiesWith("process.gpu.sm.ratio")) {
    const Series& series = evidence.Samples("process.gpu.sm.ratio", entity);
    const Fact* type = evidence.Find("process.gpu.type", entity);
    if (series.size() < kFewestReadings || type == nullptr || type->value.AsText() != "C") continue;
    known = true;
    if (MaxOf(series, -1e18, 1e18).value_or(1) > 0) continue;
    Finding finding = MakeFinding(kRule_gpu_allocated_but_idle, Severity::kInfo, kWeak);
    finding.Param("how", "@idle.text").Param("pid", std::to_string(entity.pid()));
    finding.Param("readings", std::to_string(series.size()));
    AddItem(finding, evidence.Find("process.gpu.sm.ratio", entity));
    finding.next = "nvidia-smi pmon -s um -c 60   # while the job is known to compute";
    return RuleOutcome::Fired(std::move(finding));
  }
  return known ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"process.gpu.sm.ratio"});
}

// Some of the job's GPUs work, others only hold memory: a rank that never started, or code that uses one GPU of
// several.
std::optional<Finding> OnSome(const RuleContext& context) {
  const std::vector<Entity> idle = HeldIdleGpus(context.evidence, context.analysis);
  if (idle.empty()) return std::nullopt;
  Finding finding = MakeFinding(kRule_gpu_allocated_but_idle, Severity::kWarning, kTwoWitnesses);
  finding.Param("how", "@idle.some").Param("count", std::to_string(idle.size()));
  for (const Entity& gpu : idle) {
    AddItem(finding, context.evidence.Find("gpu.name", gpu));
    finding.evidence.push_back(Item("gpu.utilization.ratio", 0, Source::kDevice));
    finding.evidence.back().where = gpu.gpu();
  }
  return finding;
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const Analysis& analysis = context.analysis;
  if (std::optional<Finding> some = OnSome(context)) return RuleOutcome::Fired(std::move(*some));
  const double held = HeldBytes(context);
  if (held <= 0)
    return analysis.processes.empty() ? RuleOutcome::CannotTell({"process.gpu.memory.bytes"}) : RuleOutcome::Clear();
  if (analysis.late_kernels > 0) return RuleOutcome::Clear();
  const std::optional<double> share = BusiestShare(context);
  const bool windows_empty = analysis.late_windows > 0 && analysis.late_kernels == 0;
  const bool driver_empty = analysis.wall_s >= 2 * kWatchSeconds && share.value_or(1) < 0.005;
  if (!windows_empty && !driver_empty) return RuleOutcome::CannotTell({"window.kernels.count", "process.gpu.sm.ratio"});
  Finding finding = MakeFinding(kRule_gpu_allocated_but_idle, Severity::kWarning,
                                windows_empty && share.value_or(0) < 0.005 ? kTwoWitnesses : kOneWitness);
  finding.Param("how", "@idle.live");
  finding.Param("held", Format("{:.1f} GiB", held / (1 << 30))).Param("seconds", Format("{:.0f}", analysis.wall_s));
  finding.evidence.push_back(Item("process.gpu.memory.bytes", held, Source::kDriver));
  AddItem(finding, MetricItem(analysis, "window.kernels.count", Source::kCuda));
  if (share) finding.evidence.push_back(Item("process.gpu.sm.ratio", *share, Source::kDriver));
  AddItem(finding, MetricItem(analysis, "gpu.power.watts", Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_gpu_allocated_but_idle{.id = "GW402",
                                                         .name = "gpu-allocated-but-idle",
                                                         .since = "0.1",
                                                         .stage = Stage::kCode,
                                                         .needs = kNeeds,
                                                         .check = &Check};

}  // namespace gpuwhy::rules
