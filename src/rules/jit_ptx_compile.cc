// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/builds.h"
#include "engine/text_facts.h"
#include "knowledge/builds.h"

namespace gpuwhy::rules {

extern const Rule kRule_jit_ptx_compile;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.compute_capability", "framework.torch.arch_list",
                                       "framework.tensorflow.version"};

Finding Describe(Severity severity, double confidence, const std::string& framework, const std::string& capability) {
  Finding finding = MakeFinding(kRule_jit_ptx_compile, severity, confidence);
  finding.frameworks = {framework, "any"};
  finding.Param("framework", framework).Param("capability", capability.empty() ? "@param.unknown" : capability);
  return finding;
}

// Machine code for no GPU of this kind, but PTX that the driver compiles at the first use.
RuleOutcome Compare(const RuleContext& context) {
  bool compared = false;
  for (const KnownBuild& known : BuildsSeen(context)) {
    const Coverage coverage = CoverageOf(context, known);
    for (const Fact* gpu : context.evidence.All("gpu.compute_capability")) {
      const std::string capability = gpu->value.AsText().value_or("");
      const knowledge::Cover cover = knowledge::CoverOf(coverage.archs, capability);
      compared = compared || cover != knowledge::Cover::kUnknown;
      if (cover != knowledge::Cover::kPtxOnly) continue;
      Finding finding = Describe(Severity::kInfo, kTwoWitnesses, known.seen.name, capability);
      AddItem(finding, known.seen.version_fact);
      AddItem(finding, coverage.list);
      AddItem(finding, gpu);
      return RuleOutcome::Fired(std::move(finding));
    }
  }
  return compared ? RuleOutcome::Clear()
                  : RuleOutcome::CannotTell({"gpu.compute_capability", "framework.torch.arch_list"});
}

RuleOutcome Check(const RuleContext& context) {
  const Fact* said = Said(context.evidence, "tf_jit_capability");
  if (said == nullptr) return Compare(context);
  std::string capability = FirstCaptured(context.evidence, "tf_jit_capability", "capability");
  while (!capability.empty() && capability.back() == '.') capability.pop_back();
  Finding finding = Describe(Severity::kWarning, kStated, "tensorflow", capability);
  AddItem(finding, said);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_jit_ptx_compile{
    .id = "GW107", .name = "jit-ptx-compile", .since = "0.1", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
