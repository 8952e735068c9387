// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/builds.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_cpu_only_framework_build;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.cuda_built", "framework.tensorflow.cuda_built",
                                       "framework.jax.cuda_plugin_version"};

// In a text torch.version.cuda may stand alone, and it is None in a ROCm build too: somebody else has to say so as
// well.
bool NoneAlone(const RuleContext& context, const FrameworkSeen& seen) {
  if (!FromText(context.evidence) || seen.name != "pytorch" || seen.sees_gpu == false) return false;
  for (const char* line : {"conda_torch_cpuonly", "torch_not_compiled", "ultralytics_gpu_mem_zero"}) {
    if (Said(context.evidence, line) != nullptr) return false;
  }
  return !Contains(seen.version, "+cpu");
}

// How sure we are that a build has no CUDA; 0 = it has, or nobody knows.
double CpuOnly(const RuleContext& context, const KnownBuild& known) {
  if (known.seen.sees_gpu == true || NoneAlone(context, known.seen)) return 0;
  if (known.seen.cuda) return known.seen.cuda->empty() ? kStated : 0;
  // The plain package of that system has none (table), and the framework sees no GPU: two witnesses.
  const bool plain = known.seen.name == "pytorch" && known.build != nullptr && known.build->cuda == "none";
  return plain && known.seen.sees_gpu == false ? kTwoWitnesses : 0;
}

void AddLines(const RuleContext& context, const KnownBuild& known, Finding& finding) {
  AddLine(finding, known.seen.version_fact);
  AddLine(finding, known.seen.cuda_fact);
  AddLine(finding, known.seen.sees_fact);
  if (known.build != nullptr && known.build->os != "any") AddLine(finding, context.evidence.Find("host.os.name"));
  for (const char* line :
       {"conda_torch_cpuonly", "conda_tf_cpu", "torch_not_compiled", "jax_cpu_jaxlib", "ultralytics_gpu_mem_zero"})
    AddLine(finding, Said(context.evidence, line));
}

Finding Describe(const RuleContext& context, const KnownBuild& known, double confidence) {
  const FrameworkSeen& seen = known.seen;
  // A build that is merely installed may never be used: a warning. One that the job runs on is the cause.
  Finding finding =
      MakeFinding(kRule_cpu_only_framework_build, seen.in_job ? Severity::kError : Severity::kWarning, confidence);
  if (seen.in_job) finding.implies = GpuUsed::kNo;
  finding.frameworks = {seen.name, "any"};
  finding.Param("framework", seen.name).Param("version", seen.version.empty() ? "@build.no_version" : seen.version);
  const std::string driver_cuda = context.evidence.Text("driver.cuda_version").value_or("");
  finding.Param("driver_cuda", driver_cuda.empty() ? "@param.unknown" : driver_cuda);
  finding.Param("driver_note", driver_cuda.empty() ? "" : "@build.driver_note");
  AddLines(context, known, finding);
  return finding;
}

// JAX prints its warning in every program that imports it; only a job that runs on JAX is concerned.
std::optional<Finding> JaxOfText(const RuleContext& context) {
  if (!FromText(context.evidence) || Said(context.evidence, "jax_cpu_jaxlib") == nullptr) return std::nullopt;
  KnownBuild jax;
  jax.seen.name = "jax";
  jax.seen.in_job = true;
  jax.seen.version_fact = MainFact(context, "framework.jax.version");
  if (jax.seen.version_fact != nullptr) jax.seen.version = jax.seen.version_fact->value.AsText().value_or("");
  jax.seen.sees_fact = MainFact(context, "framework.jax.backend");
  if (jax.seen.sees_fact == nullptr || jax.seen.sees_fact->value.AsText() != "cpu") return std::nullopt;
  return Describe(context, jax, kStated);
}

// ONNX Runtime's CPU package lists its providers, and CUDA is none of them.
std::optional<Finding> OnnxRuntime(const RuleContext& context) {
  const Fact* lists = Said(context.evidence, "ort_available_providers");
  const Fact* built = MainFact(context, "framework.onnxruntime.cuda_built");
  const std::string providers = FirstCaptured(context.evidence, "ort_available_providers", "providers");
  const bool listed_without = lists != nullptr && !providers.empty() && !Contains(providers, "CUDA");
  if (!listed_without && (built == nullptr || built->value.AsBool() != false)) return std::nullopt;
  KnownBuild runtime;
  runtime.seen.name = "onnxruntime";
  runtime.seen.in_job = true;
  Finding finding = Describe(context, runtime, kStated);
  AddLine(finding, lists);
  AddLine(finding, built);
  return finding;
}

RuleOutcome Check(const RuleContext& context) {
  RuleOutcome outcome;
  bool known = false;
  for (const KnownBuild& build : BuildsSeen(context)) {
    const FrameworkSeen& seen = build.seen;
    known = known || seen.cuda.has_value() || seen.sees_gpu == true || build.build != nullptr;
    const double confidence = CpuOnly(context, build);
    if (confidence == 0 || TensorFlowWithoutCuda(build, context.evidence)) continue;
    outcome.findings.push_back(Describe(context, build, confidence));
  }
  if (outcome.findings.empty()) {
    if (std::optional<Finding> jax = JaxOfText(context)) outcome.findings.push_back(std::move(*jax));
    if (std::optional<Finding> runtime = OnnxRuntime(context)) outcome.findings.push_back(std::move(*runtime));
  }
  if (!outcome.findings.empty()) outcome.kind = RuleOutcome::Kind::kFired;
  if (outcome.findings.empty() && !known)
    return RuleOutcome::CannotTell({"framework.torch.cuda_built", "framework.tensorflow.cuda_built"});
  return outcome;
}

}  // namespace

extern constinit const Rule kRule_cpu_only_framework_build{.id = "GW101",
                                                           .name = "cpu-only-framework-build",
                                                           .since = "0.1",
                                                           .stage = Stage::kBuild,
                                                           .needs = kNeeds,
                                                           .check = &Check};

}  // namespace gpuwhy::rules
