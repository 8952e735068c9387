// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_ops_fell_back_to_cpu;

namespace {

constexpr std::string_view kNeeds[] = {"log.torch_mps_fallback", "window.kernels.count",
                                       "framework.torch.parameters.cuda_bytes"};

RuleOutcome CheckText(const RuleContext& context) {
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
