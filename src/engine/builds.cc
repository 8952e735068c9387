// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/builds.h"

#include <algorithm>

#include "base/text.h"
#include "engine/text_facts.h"
#include "knowledge/builds.h"

namespace gpuwhy {
namespace {

constexpr std::string_view kNone = "none";

bool Named(const std::vector<FrameworkSeen>& all, std::string_view name) {
  return std::any_of(all.begin(), all.end(), [name](const FrameworkSeen& seen) { return seen.name == name; });
}

bool HasText(const Fact* fact) { return fact != nullptr && !fact->value.AsText().value_or("").empty(); }

// PyTorch as a text speaks of it without its version.
FrameworkSeen TorchOfText(const RuleContext& context) {
  FrameworkSeen seen;
  seen.name = "pytorch";
  seen.in_job = true;
  seen.cuda_fact = MainFact(context, "framework.torch.cuda_built");
  if (seen.cuda_fact != nullptr) seen.cuda = seen.cuda_fact->value.AsText();
  if (HasText(MainFact(context, "framework.torch.hip_built"))) seen.cuda.reset();
  seen.sees_fact = MainFact(context, "framework.torch.cuda_available");
  if (seen.sees_fact != nullptr) seen.sees_gpu = seen.sees_fact->value.AsBool();
  if (const Fact* error = MainFact(context, "framework.torch.cuda_error"))
    seen.error = error->value.AsText().value_or("");
  return seen;
}

// The package tensorflow-intel exists for native Windows only and has TensorFlow's version.
void FromWindowsPackage(const Evidence& evidence, FrameworkSeen& seen) {
  const std::string version = FirstCaptured(evidence, "tf_intel_package", "version");
  if (!seen.version.empty() || !ParseVersion(version)) return;
  seen.version = version;
  seen.version_fact = Said(evidence, "tf_intel_package");
}

FrameworkSeen TensorFlowOfText(const RuleContext& context) {
  FrameworkSeen seen;
  seen.name = "tensorflow";
  seen.in_job = true;
  seen.cuda_fact = MainFact(context, "framework.tensorflow.cuda_built");
  if (seen.cuda_fact != nullptr && seen.cuda_fact->value.AsBool() == false) seen.cuda = "";
  FromWindowsPackage(context.evidence, seen);
  seen.sees_fact = MainFact(context, "framework.tensorflow.gpu_count");
  if (seen.sees_fact != nullptr && seen.sees_fact->value.AsInt()) seen.sees_gpu = *seen.sees_fact->value.AsInt() > 0;
  return seen;
}

bool SaysAnything(const FrameworkSeen& seen) {
  return seen.cuda_fact != nullptr || seen.sees_fact != nullptr || !seen.error.empty();
}

std::vector<FrameworkSeen> AllSeen(const RuleContext& context) {
  std::vector<FrameworkSeen> all = FrameworksSeen(context);
  if (!FromText(context.evidence)) return all;
  for (FrameworkSeen seen : {TorchOfText(context), TensorFlowOfText(context)}) {
    if (!Named(all, seen.name) && SaysAnything(seen)) all.push_back(std::move(seen));
  }
  return all;
}

std::string CoveredBy(const StringList& archs) {
  std::string out;
  for (const std::string& arch : archs) {
    const std::string capability = knowledge::CapabilityOf(arch);
    if (capability.empty()) continue;
    if (!out.empty()) out += ' ';
    out += capability;
    if (arch.rfind("compute_", 0) == 0) out += "+PTX";
  }
  return out;
}

}  // namespace

std::string KnownBuild::built_for() const {
  if (seen.cuda) return *seen.cuda;
  return build != nullptr && build->cuda != kNone ? std::string(build->cuda) : "";
}

std::vector<KnownBuild> BuildsSeen(const RuleContext& context) {
  std::vector<KnownBuild> out;
  for (FrameworkSeen& seen : AllSeen(context)) {
    KnownBuild known;
    const bool rocm = Contains(seen.version, "+rocm");
    if (!seen.cuda && !rocm && seen.name == "pytorch") {
      seen.cuda = knowledge::CudaOfLocalVersion(seen.version);
      if (seen.cuda) seen.cuda_fact = nullptr;  // the version is the evidence
    }
    if (!rocm) known.build = knowledge::FindBuild(seen.name, seen.version, SystemOf(context.evidence));
    known.seen = std::move(seen);
    out.push_back(std::move(known));
  }
  return out;
}

bool NativeWindows(const Evidence& evidence) {
  if (evidence.Bool("host.wsl") == true) return false;
  return Lower(evidence.Text("host.os.name").value_or("")).rfind("windows", 0) == 0;
}

std::string_view SystemOf(const Evidence& evidence) {
  const std::string name = Lower(evidence.Text("host.os.name").value_or(""));
  if (name.empty()) return evidence.Bool("host.wsl") == true ? "linux" : "";
  if (NativeWindows(evidence)) return "windows";
  return name == "macos" || name == "darwin" ? "macos" : "linux";
}

bool TensorFlowWithoutCuda(const KnownBuild& known, const Evidence& evidence) {
  if (known.seen.name != "tensorflow" || known.seen.sees_gpu == true || !NativeWindows(evidence)) return false;
  // The plug-in for DirectML brings a GPU device of its own.
  return known.build != nullptr && known.build->cuda == kNone && Said(evidence, "tf_directml") == nullptr;
}

Coverage CoverageOf(const RuleContext& context, const KnownBuild& known) {
  Coverage coverage;
  if (!known.seen.in_job) return coverage;
  const Fact* list = known.seen.name == "pytorch"      ? MainFact(context, "framework.torch.arch_list")
                     : known.seen.name == "tensorflow" ? MainFact(context, "framework.tensorflow.arch_list")
                                                       : nullptr;
  if (list != nullptr && list->value.AsList()) {
    coverage.archs = CoveredBy(*list->value.AsList());
    coverage.list = list;
  } else if (known.build != nullptr) {
    coverage.archs = known.build->archs;
  }
  return coverage;
}

}  // namespace gpuwhy
