// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_gpu_in_use;

namespace {

constexpr std::string_view kNeeds[] = {"window.kernels.count", "run.gpu_busy.ratio"};

constexpr size_t kMostReadings = 8;

// The lines of a text that show the work: GPUs with their readings and the compute processes on them.
void AddReadings(const RuleContext& context, Finding& finding) {
  std::set<std::string> places;  // one line often holds several of them
  for (const char* name :
       {"gpu.utilization.ratio", "gpu.memory.used.bytes", "gpu.mig.instances", "gpu.engine.cuda.ratio",
        "gpu.engine.compute.ratio", "process.gpu.sm.ratio", "framework.on_gpu", "process.gpu.type"}) {
    for (const Fact* fact : context.evidence.All(name)) {
      if (fact->quote.empty() || places.size() >= kMostReadings || !places.insert(fact->where).second) continue;
      AddItem(finding, fact);
    }
  }
}

RuleOutcome Check(const RuleContext& context) {
  if (context.ladder.gpu_used == GpuUsed::kUnknown) return RuleOutcome::CannotTell({"window.kernels.count"});
  if (context.ladder.gpu_used != GpuUsed::kYes) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_gpu_in_use, Severity::kInfo, context.ladder.confidence);
  const bool text = FromText(context.evidence);
  finding.Param("how", text ? "@how.text" : "@how.kernels");
  if (text) AddReadings(context, finding);
  for (const char* metric : {"window.kernels.count", "run.gpu_busy.ratio"})
    AddItem(finding, MetricItem(context.analysis, metric, Source::kCuda));
  for (const char* metric : {"run.duty_cycle.ratio", "gpu.gpm.sm.ratio", "gpu.power.watts"})
    AddItem(finding, MetricItem(context.analysis, metric, Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_gpu_in_use{
    .id = "GW001", .name = "gpu-in-use", .since = "0.1", .stage = Stage::kVerdict, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
