// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_ops_fell_back_to_cpu;

namespace {

constexpr std::string_view kNeeds[] = {"log.torch_mps_fallback", "window.kernels.count",
                                       "framework.torch.parameters.cuda_bytes"};

constexpr double kMostOnCpu = 0.10;  // llama.cpp counts the output layer: 32 of 33 is the whole model

// Share of a model that llama.cpp or Ollama left on the CPU; nothing when the text does not say.
std::optional<double> LeftOnCpu(const Evidence& evidence) {
  const std::optional<double> layers = ParseDouble(FirstCaptured(evidence, "llama_offloaded", "layers")),
                              all = ParseDouble(FirstCaptured(evidence, "llama_offloaded", "all"));
  if (layers && all && *all > 0 && *layers > 0) return 1 - *layers / *all;
  const std::string shares = FirstCaptured(evidence, "ollama_ps_split", "shares");  // "68%/32%", CPU first
  const std::optional<double> cpu = ParseDouble(shares.substr(0, std::min(shares.find('%'), shares.size())));
  return cpu ? std::optional<double>(*cpu / 100) : std::nullopt;
}

RuleOutcome CheckText(const RuleContext& context) {
  if (const std::optional<double> left = LeftOnCpu(context.evidence); left && *left > kMostOnCpu) {
    Finding finding = MakeFinding(kRule_ops_fell_back_to_cpu, Severity::kWarning, kStated);
    finding.implies = GpuUsed::kPartly;
    finding.Param("what", "@fallback.layers").Param("left", ShowPercent(*left));
    AddItem(finding, Said(context.evidence, "llama_offloaded"));
    AddItem(finding, Said(context.evidence, "ollama_ps_split"));
    return RuleOutcome::Fired(std::move(finding));
  }
  for (const char* id : {"ort_fell_back", "ort_provider_missing", "tf_device_unsatisfied", "torch_mps_fallback"}) {
    const Fact* said = Said(context.evidence, id);
    if (said == nullptr) continue;
    // Some operators on the CPU are no fault; a whole session on it is.
    // A package that was built without CUDA is another cause.
    const std::string providers = FirstCaptured(context.evidence, "ort_available_providers", "providers");
    if (!providers.empty() && providers.find("CUDA") == std::string::npos) return RuleOutcome::Clear();
    const bool whole =
        MainFact(context, "framework.on_cpu") != nullptr && MainFact(context, "framework.on_gpu") == nullptr;
    // PyTorch on MPS says it only where an operator really ran on the CPU between others on the GPU.
    const bool between = std::string_view(id) == "torch_mps_fallback";
    const Severity severity = whole ? Severity::kError : between ? Severity::kWarning : Severity::kInfo;
    Finding finding = MakeFinding(kRule_ops_fell_back_to_cpu, severity, kStated);
    if (whole || between) finding.implies = whole ? GpuUsed::kNo : GpuUsed::kPartly;
    finding.Param("what", whole ? "@fallback.session" : "@fallback.operators");
    AddItem(finding, said);
    return RuleOutcome::Fired(std::move(finding));
  }
  return RuleOutcome::CannotTell({"log.ort_fell_back", "log.tf_device_unsatisfied", "log.torch_mps_fallback"});
}

// The framework keeps the model on the GPU, and no kernel ran in any later window: whatever computes, the GPU does not.
RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const WitnessStatement& cuda = context.ladder.rung(Source::kCuda);
  const WitnessStatement& framework = context.ladder.rung(Source::kFramework);
  if (cuda.state != "ok" || framework.state != "ok") return RuleOutcome::CannotTell({"window.kernels.count"});
  const bool placed = framework.gpu_used == GpuUsed::kYes;
  if (!placed || context.analysis.late_windows == 0 || context.analysis.late_kernels > 0 || !context.ladder.worked)
    return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_ops_fell_back_to_cpu, Severity::kInfo, kOneWitness);
  finding.Param("what", "@fallback.live");
  AddItem(finding, MainFact(context, "framework.torch.parameters.cuda_bytes"));
  AddItem(finding, MainFact(context, "framework.tensorflow.variables.gpu_bytes"));
  AddItem(finding, MetricItem(context.analysis, "window.kernels.count", Source::kCuda));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_ops_fell_back_to_cpu{.id = "GW404",
                                                       .name = "ops-fell-back-to-cpu",
                                                       .since = "0.1",
                                                       .stage = Stage::kCode,
                                                       .needs = kNeeds,
                                                       .check = &Check};

}  // namespace gpuwhy::rules
