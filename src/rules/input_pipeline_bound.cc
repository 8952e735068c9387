// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/input_stage.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_input_pipeline_bound;

namespace {

constexpr std::string_view kNeeds[] = {"input.wait.ratio", "input.exposed.ratio",
                                       "framework.tensorflow.input.get_next_seconds"};

// More worker processes than cores only take turns: PyTorch itself warns above the core count.
int64_t SuggestedWorkers(const RuleContext& context) {
  int64_t cores = context.evidence.Int("host.cpu.allowed").value_or(context.evidence.Int("host.cpu.count").value_or(4));
  const std::optional<double> quota = context.evidence.Double("host.cgroup.cpu_limit");
  if (quota && *quota >= 1) cores = std::min(cores, static_cast<int64_t>(*quota));
  return std::max<int64_t>(1, std::min<int64_t>(cores, 16));
}

// Share of TensorFlow's own window that its executor spent in IteratorGetNext; nothing without such a window.
std::optional<double> TensorFlowShare(const RuleContext& context) {
  const Fact* wait = MainFact(context, "framework.tensorflow.input.get_next_seconds");
  const Fact* window = MainFact(context, "framework.tensorflow.input.window_seconds");
  if (wait == nullptr || window == nullptr || window->value.AsDouble().value_or(0) <= 0 || !wait->value.AsDouble())
    return std::nullopt;
  return std::min(1.0, *wait->value.AsDouble() / *window->value.AsDouble());
}

// The number of loader workers, said only where it was seen ("" = it was not).
void AddWorkers(const std::string& workers, Finding& finding) {
  if (!workers.empty()) finding.Param("workers", workers);
  finding.Param("loader", workers.empty() ? "" : "@input.workers");
}

// A training that prints its own times, or a profiler's table. Means, not medians: a median hides bursts.
RuleOutcome CheckText(const RuleContext& context) {
  const Fact* stated = MainFact(context, "progress.input.ratio");
  const Fact* data = MainFact(context, "progress.data.seconds");
  const Fact* batch = MainFact(context, "progress.batch.seconds");
  std::optional<double> share = stated != nullptr ? stated->value.AsDouble() : std::nullopt;
  if (!share && data != nullptr && batch != nullptr && batch->value.AsDouble().value_or(0) > 0)
    share = data->value.AsDouble().value_or(0) / *batch->value.AsDouble();
  if (!share) return RuleOutcome::CannotTell({"progress.data.seconds", "progress.input.ratio"});
  // On the CPU waiting for data has no GPU to keep waiting.
  if (context.ladder.rung(Source::kFramework).gpu_used == GpuUsed::kNo) return RuleOutcome::Clear();
  if (*share < kShareInfo || *share > 1.05) return RuleOutcome::Clear();  // above 1 the two are counted apart
  Finding finding = TimeFinding(kRule_input_pipeline_bound, std::min(1.0, *share), kTwoWitnesses);
  const StringList workers = Captured(context.evidence, "loader_workers", "workers");
  finding.Param("wait", ShowPercent(std::min(1.0, *share)))
      .Param("suggested", "4")
      .Param("stage", "@input.stage.unknown");
  AddWorkers(workers.empty() ? "" : workers.front(), finding);
  // Waiting for data says nothing of a job that says it computes on the CPU.
  if (context.ladder.rung(Source::kFramework).gpu_used != GpuUsed::kNo && finding.severity != Severity::kInfo)
    finding.implies = GpuUsed::kYes;
  for (const Fact* fact : {stated, data, batch, Said(context.evidence, "loader_workers")}) AddItem(finding, fact);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const Analysis& analysis = context.analysis;
  if (context.ladder.gpu_used == GpuUsed::kNo) return RuleOutcome::Clear();  // an idle GPU has another cause
  std::optional<double> share;
  double confidence = kOneWitness;
  if (analysis.steady) share = analysis.steady->wait_s / analysis.steady->seconds();
  if (analysis.breakdown && (analysis.steady || analysis.window->in_wait.total() > 0)) {
    share = analysis.breakdown->input_wait;
    confidence = kStated;
  }
  if (!share) share = TensorFlowShare(context);
  if (!share) return RuleOutcome::CannotTell({"input.wait.ratio"});
  if (*share < kShareInfo) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_input_pipeline_bound, *share, confidence);
  const auto total = analysis.metrics.find("input.wait.ratio");
  finding.Param("wait", total != analysis.metrics.end() && total->second.value ? ShowPercent(*total->second.value)
                                                                               : ShowPercent(*share));
  const Fact* workers = LoaderFact(context, "workers");
  AddWorkers(workers != nullptr ? workers->value.Show() : "", finding);
  finding.Param("suggested", std::to_string(SuggestedWorkers(context)));
  for (const char* metric : {"input.wait.ratio", "input.overlapped.ratio", "run.step.seconds"})
    AddItem(finding, MetricItem(analysis, metric, Source::kFramework));
  for (const char* name :
       {"framework.tensorflow.input.get_next_seconds", "framework.tensorflow.input.slowest_iterator"}) {
    AddItem(finding, MainFact(context, name));
  }
  AddItem(finding, workers);
  DescribeInputStage(context, finding);
  AddItem(finding, LoaderFact(context, "pin_memory"));
  AddItem(finding, MetricItem(analysis, "run.duty_cycle.ratio", Source::kDevice));
  AddItem(finding, context.evidence.Find("host.cpu.allowed"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_input_pipeline_bound{.id = "GW501",
                                                       .name = "input-pipeline-bound",
                                                       .since = "0.1",
                                                       .stage = Stage::kSpeed,
                                                       .needs = kNeeds,
                                                       .check = &Check};

}  // namespace gpuwhy::rules
