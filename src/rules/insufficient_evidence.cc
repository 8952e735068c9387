// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "engine/apple.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_insufficient_evidence;

namespace {

constexpr std::string_view kNeeds[] = {"window.kernels.count", "process.libcuda"};

// The one command that would settle it, by what is missing.
constexpr const char* kWatch = "gpuwhy run -- python train.py";
constexpr const char* kSample = "nvidia-smi dmon -s pucm -d 1 -c 60   # while the job computes";
constexpr const char* kTorch =
    "python -c \"import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())\"";
constexpr const char* kTensorFlow =
    "python -c \"import tensorflow as tf; print(tf.__version__, tf.config.list_physical_devices('GPU'))\"";
constexpr const char* kJax = "python -c \"import jax; print(jax.__version__, jax.devices())\"; pip list | grep -i jax";
constexpr const char* kMetal =
    "python -c \"import torch; print(torch.__version__, torch.backends.mps.is_available())\"";
constexpr const char* kDriver = "nvidia-smi; ls -l /dev/nvidia*; sudo dmesg | grep -iE 'nvrm|xid'";
constexpr size_t kMostLines = 8;  // quoted in one finding

std::string NextCommand(const RuleContext& context) {
  if (context.analysis.processes.empty()) return kWatch;
  const bool short_job = context.analysis.wall_s > 0 && context.analysis.wall_s < 30;
  return short_job ? "gpuwhy run -- CMD   # let it train for a minute or more" : "gpuwhy doctor";
}

// Quotes the lines that come nearest to an answer, each once.
void QuoteLines(const RuleContext& context, Finding& finding) {
  std::set<std::string> places;
  const auto add = [&](const Fact* fact) {
    if (fact->quote.empty() || places.size() >= kMostLines || !places.insert(fact->where).second) return;
    AddItem(finding, fact);
  };
  for (const char* prefix : {"log.", "framework.", "progress."}) {
    for (const Fact* fact : context.evidence.WithPrefix(prefix)) add(fact);
  }
  for (const char* name : {"gpu.utilization.ratio", "gpu.memory.used.bytes", "process.gpu.sm.ratio", "process.gpu.type",
                           "driver.processes.box", "driver.version", "toolkit.nvcc.version"}) {
    for (const Fact* fact : context.evidence.All(name)) add(fact);
  }
}

bool HasAny(const Evidence& evidence, const char* prefix) { return !evidence.WithPrefix(prefix).empty(); }

// The command that asks the framework of the text about itself; PyTorch where it names none.
const char* AskFramework(const Evidence& evidence) {
  if (HasAny(evidence, "framework.tensorflow.")) return kTensorFlow;
  return HasAny(evidence, "framework.jax.") && !HasAny(evidence, "framework.torch.") ? kJax : kTorch;
}

// What is missing in a text, as a key of locale/, and the one command that would bring it.
std::pair<const char*, const char*> MissingInText(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const GpuUsed framework = context.ladder.rung(Source::kFramework).gpu_used;
  const bool tensorflow = HasAny(evidence, "framework.tensorflow.");
  for (const char* id : {"torch_oom", "torch_oom_any", "cuda_oom", "tf_oom", "jax_oom"}) {
    if (Said(evidence, id) != nullptr) return {"@missing.memory", "nvidia-smi   # at the moment of the failure"};
  }
  if (framework == GpuUsed::kNo && MainFact(context, "framework.torch.cuda_error") != nullptr)
    return {"@missing.reason", kDriver};
  if (framework == GpuUsed::kNo) return {"@missing.reason", AskFramework(evidence)};
  if (context.ladder.gpu_used == GpuUsed::kYes) return {"@missing.why_low", kSample};
  if (HasAny(evidence, "gpu.utilization.") || HasAny(evidence, "process.gpu.")) return {"@missing.reading", kSample};
  if (HasAny(evidence, "framework.") || HasAny(evidence, "log."))
    return {"@missing.job", tensorflow ? kTensorFlow : kWatch};
  return {HasAny(evidence, "gpu.") || HasAny(evidence, "driver.") ? "@missing.job" : "@missing.known", kWatch};
}

RuleOutcome CheckText(const RuleContext& context) {
  Finding finding = MakeFinding(kRule_insufficient_evidence, Severity::kInfo, 0.3);
  const auto [missing, next] = MissingInText(context);
  const GpuUsed used = context.ladder.gpu_used;
  finding.Param("known", used == GpuUsed::kNo ? "@known.no" : used == GpuUsed::kYes ? "@known.yes" : "@known.nothing");
  finding.Param("missing", missing);
  finding.next = OnApple(context.evidence) ? kMetal : next;
  QuoteLines(context, finding);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);  // kept only where nothing else answers
  if (context.ladder.gpu_used != GpuUsed::kUnknown || context.ladder.disagree) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_insufficient_evidence, Severity::kInfo, 0.3);
  finding.next = NextCommand(context);
  finding.Param("known", "@known.nothing");
  finding.Param("missing", context.ladder.worked ? "@missing.kernels" : "@missing.steps");
  AddItem(finding, MetricItem(context.analysis, "run.wall.seconds", Source::kOs));
  AddItem(finding, MetricItem(context.analysis, "job.cpu.seconds", Source::kOs));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_insufficient_evidence{.id = "GW002",
                                                        .name = "insufficient-evidence",
                                                        .since = "0.1",
                                                        .stage = Stage::kVerdict,
                                                        .needs = kNeeds,
                                                        .check = &Check};

}  // namespace gpuwhy::rules
