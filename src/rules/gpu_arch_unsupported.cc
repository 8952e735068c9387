// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/builds.h"
#include "engine/text_facts.h"
#include "knowledge/builds.h"
#include "knowledge/drivers.h"
#include "knowledge/gpus.h"

namespace gpuwhy::rules {

extern const Rule kRule_gpu_arch_unsupported;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.compute_capability", "framework.torch.arch_list",
                                       "framework.torch.cuda_error", "framework.torch.version"};

using knowledge::Cover;

constexpr const char* kTensorFlowNext =
    "python -c \"import tensorflow as tf; print(tf.sysconfig.get_build_info()['cuda_compute_capabilities'])\"";

constexpr const char* kRuntime = "@arch.runtime";

constexpr const char* kRuntimeNext = "nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv";

struct Answer {
  std::string framework = "pytorch", gpu, capability, covered, minimum;
  double confidence = kStated;
  Severity severity = Severity::kError;
  GpuUsed implies = GpuUsed::kNo;
  std::vector<const Fact*> facts;
};

// PyTorch names the GPU and what its build covers (torch/cuda/__init__.py, _check_capability).
std::optional<Answer> TorchNames(const Evidence& evidence) {
  const Fact* said = Said(evidence, "torch_arch_unsupported");
  const Fact* newer = Said(evidence, "torch_requires_newer_cuda");
  if (said == nullptr && newer == nullptr) return std::nullopt;
  Answer answer;
  answer.gpu = FirstCaptured(evidence, said != nullptr ? "torch_arch_gpu" : "torch_requires_newer_cuda", "gpu");
  answer.capability = said != nullptr ? "sm_" + FirstCaptured(evidence, "torch_arch_unsupported", "arch") : "";
  answer.covered = FirstCaptured(evidence, "torch_arch_list", "archs");
  while (!answer.covered.empty() && answer.covered.back() == '.') answer.covered.pop_back();
  answer.facts = {said, newer, Said(evidence, "torch_arch_list"), Said(evidence, "cuda_no_kernel_image")};
  return answer;
}

std::optional<Answer> TorchTooOld(const Evidence& evidence) {
  const Fact* said = Said(evidence, "torch_gpu_too_old");
  if (said == nullptr) return std::nullopt;
  Answer answer;
  answer.gpu = FirstCaptured(evidence, "torch_gpu_too_old", "gpu");
  answer.capability = FirstCaptured(evidence, "torch_gpu_too_old", "capability");
  while (!answer.capability.empty() && answer.capability.back() == '.') answer.capability.pop_back();
  answer.minimum = FirstCaptured(evidence, "torch_min_capability", "capability");
  answer.covered = answer.minimum.empty() ? "@arch.newer" : "@arch.at_least";
  const std::string low = FirstCaptured(evidence, "torch_capability_range", "low");
  const std::string high = FirstCaptured(evidence, "torch_capability_range", "high");
  if (!low.empty() && !high.empty()) answer.covered = low + " - " + high;
  answer.facts = {said, Said(evidence, "torch_gpu_too_old_line"), Said(evidence, "torch_min_capability"),
                  Said(evidence, "cuda_no_kernel_image")};
  return answer;
}

// TensorFlow leaves out a GPU below the oldest that it was built for; a process of its own stays on it all the same.
std::optional<Answer> TensorFlowIgnores(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* said = Said(evidence, "tf_old_gpu");
  if (said == nullptr) return std::nullopt;
  Answer answer;
  answer.framework = "tensorflow";
  answer.gpu = FirstCaptured(evidence, "tf_old_gpu", "gpu");
  answer.capability = FirstCaptured(evidence, "tf_old_gpu", "has");
  answer.minimum = FirstCaptured(evidence, "tf_old_gpu", "needed");
  while (!answer.minimum.empty() && answer.minimum.back() == '.') answer.minimum.pop_back();
  answer.covered = "@arch.at_least";
  if (Said(evidence, "tf_created_device") != nullptr) {
    answer.implies = GpuUsed::kPartly;
    answer.severity = Severity::kWarning;
  }
  answer.facts = {said, Said(evidence, "tf_created_device")};
  const std::vector<const Fact*> held = evidence.All("process.gpu.memory.bytes");
  if (!held.empty() && answer.implies == GpuUsed::kNo) answer.facts.push_back(held.front());  // an idle context
  return answer;
}

// The GPU by its name in nvidia-smi or in the list of devices that llama.cpp prints.
void NameGpu(const Evidence& evidence, Answer& answer) {
  const Fact* gpu = evidence.Find("gpu.name");
  const Fact* listed = Said(evidence, "runtime_device");
  answer.gpu = gpu != nullptr ? gpu->value.AsText().value_or("") : FirstCaptured(evidence, "runtime_device", "gpu");
  answer.facts.push_back(gpu != nullptr ? gpu : listed);
}

// Runtimes that bring their own kernels: llama.cpp names the architecture as 370, Ollama the capability as 3.5.
std::optional<Answer> RuntimeSays(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* code = Said(evidence, "runtime_no_device_code");
  const Fact* old = Said(evidence, "runtime_gpu_too_old");
  if (old == nullptr) old = Said(evidence, "ollama_capability");
  if (code == nullptr && old == nullptr) return std::nullopt;
  Answer answer;
  answer.framework = kRuntime;
  answer.capability = FirstCaptured(evidence, "runtime_gpu_too_old", "capability");
  if (answer.capability.empty()) answer.capability = FirstCaptured(evidence, "runtime_device", "capability");
  const std::string arch = FirstCaptured(evidence, "runtime_no_device_code", "arch");
  if (arch.size() >= 3) answer.capability = arch.substr(0, arch.size() - 2) + "." + arch.substr(arch.size() - 2, 1);
  answer.covered = FirstCaptured(evidence, "runtime_device_code", "archs");
  NameGpu(evidence, answer);
  answer.facts.insert(answer.facts.begin(), {code, Said(evidence, "runtime_device_code"), old});
  return answer;
}

bool SaysNoImage(const std::string& text) {
  return Contains(text, "no kernel image is available") || Contains(text, "cudaErrorNoKernelImageForDevice") ||
         Contains(text, "CUDA_ERROR_NO_BINARY_FOR_GPU");
}

// CUDA's own word, without a name: it may also come from an extension that was built for other GPUs.
std::optional<Answer> CudaSays(const RuleContext& context) {
  const Fact* said = Said(context.evidence, "cuda_no_kernel_image");
  for (const char* name : {"framework.torch.cuda_error", "framework.python.exception"}) {
    const Fact* fact = MainFact(context, name);
    if (said == nullptr && fact != nullptr && SaysNoImage(fact->value.AsText().value_or(""))) said = fact;
  }
  if (said == nullptr) return std::nullopt;
  Answer answer;
  answer.facts = {said};
  if (Said(context.evidence, "llama_cuda_devices") != nullptr) {
    answer.framework = kRuntime;
    answer.capability = FirstCaptured(context.evidence, "runtime_device", "capability");
  }
  NameGpu(context.evidence, answer);
  return answer;
}

// Capability of a GPU: measured, else by its name.
std::string CapabilityOf(const Evidence& evidence, const Entity& gpu) {
  const Fact* fact = evidence.Find("gpu.compute_capability", gpu);
  if (fact != nullptr && fact->value.known()) return fact->value.AsText().value_or("");
  const Fact* name = evidence.Find("gpu.name", gpu);
  const auto known = knowledge::FindGpu(name != nullptr ? name->value.AsText().value_or("") : "");
  return known ? std::string(known->capability) : "";
}

// The build's list against the GPUs: an obstacle when it covers none of them.
std::optional<Answer> Compared(const RuleContext& context, bool& compared) {
  const Evidence& evidence = context.evidence;
  for (const KnownBuild& known : BuildsSeen(context)) {
    const Coverage coverage = CoverageOf(context, known);
    const std::string& archs = coverage.archs;
    if (archs.empty()) continue;
    Answer answer;
    answer.framework = known.seen.name;
    answer.covered = archs;
    answer.facts = {known.seen.version_fact, coverage.list};
    bool all_uncovered = false, newer = true;
    for (const Entity& gpu : evidence.Entities(EntityKind::kGpu)) {
      const std::string capability = CapabilityOf(evidence, gpu);
      if (capability.empty()) return std::nullopt;
      compared = true;
      if (knowledge::CoverOf(archs, capability) != Cover::kNone) return std::nullopt;
      newer = newer && knowledge::CompareVersions(archs.substr(archs.rfind(' ') + 1), capability).value_or(0) < 0;
      all_uncovered = true;
      const Fact* name = evidence.Find("gpu.name", gpu);
      answer.gpu = name != nullptr ? name->value.AsText().value_or("") : "";
      answer.capability = capability;
      answer.facts.push_back(name);
    }
    if (!all_uncovered) continue;
    answer.confidence = kTwoWitnesses;
    // A table may list less than a build of that name for an old GPU holds (conda and pip differ there).
    if (coverage.list == nullptr && !newer) {
      answer.severity = Severity::kWarning;
      answer.implies = GpuUsed::kUnknown;
    }
    return answer;
  }
  return std::nullopt;
}

// First release whose table row covers a capability, "2.7 (cu128)"; "" where the table has none.
std::string FirstBuildFor(const std::string& framework, const std::string& capability) {
  const std::string wanted = knowledge::CapabilityOf(capability);
  const knowledge::FrameworkBuild* first = nullptr;
  for (const knowledge::FrameworkBuild& build : knowledge::FrameworkBuilds()) {
    if (build.framework != framework || wanted.empty()) continue;
    if (knowledge::CoverOf(build.archs, wanted) != Cover::kMachineCode) continue;
    const bool earlier = first == nullptr || knowledge::CompareVersions(build.from, first->from).value_or(0) < 0;
    if (earlier) first = &build;
  }
  return first == nullptr ? "" : std::string(first->from) + " (" + std::string(first->variant) + ")";
}

RuleOutcome Check(const RuleContext& context) {
  const bool works = context.ladder.gpu_used == GpuUsed::kYes && !FromText(context.evidence);
  if (works) return RuleOutcome::Clear();  // kernels ran
  std::optional<Answer> answer = TorchNames(context.evidence);
  if (!answer) answer = TorchTooOld(context.evidence);
  if (!answer) answer = TensorFlowIgnores(context);
  bool compared = false;
  if (!answer) {
    answer = Compared(context, compared);
    // A text may show the GPU at work for another program, or another machine's: no error of the job's is quoted.
    if (answer && context.ladder.gpu_used == GpuUsed::kYes) answer->implies = GpuUsed::kUnknown;
  }
  if (!answer) answer = RuntimeSays(context);
  if (!answer) answer = CudaSays(context);
  if (!answer)
    return compared ? RuleOutcome::Clear()
                    : RuleOutcome::CannotTell({"gpu.compute_capability", "framework.torch.arch_list"});
  Finding finding = MakeFinding(kRule_gpu_arch_unsupported, answer->severity, answer->confidence);
  finding.implies = answer->implies;
  finding.frameworks = {answer->framework, "any"};
  finding.Param("framework", answer->framework).Param("gpu", answer->gpu.empty() ? "@arch.gpu" : answer->gpu);
  finding.Param("capability", answer->capability).Param("capable", answer->capability.empty() ? "" : "@arch.capable");
  finding.Param("covered", answer->covered.empty() ? "@arch.others" : answer->covered);
  finding.Param("minimum", answer->minimum);
  if (answer->framework == "tensorflow") finding.next = kTensorFlowNext;
  if (answer->framework == kRuntime) finding.next = kRuntimeNext;
  const std::string first = FirstBuildFor(answer->framework, answer->capability);
  finding.Param("first", first)
      .Param("take", answer->capability.empty() ? "@arch.take_any"
                     : first.empty()            ? "@arch.take_none"
                                                : "@arch.take_first");
  for (const Fact* fact : answer->facts) AddLine(finding, fact);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_gpu_arch_unsupported{.id = "GW105",
                                                       .name = "gpu-arch-unsupported",
                                                       .since = "0.1",
                                                       .stage = Stage::kBuild,
                                                       .needs = kNeeds,
                                                       .check = &Check};

}  // namespace gpuwhy::rules
