// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_cpu_only_framework_build;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.cuda_built", "framework.tensorflow.cuda_built",
                                       "framework.jax.cuda_plugin_version"};

Finding Describe(const RuleContext& context, const FrameworkSeen& seen) {
  // A build that is merely installed may never be used: a warning. One that the job runs on is the cause.
  Finding finding =
      MakeFinding(kRule_cpu_only_framework_build, seen.in_job ? Severity::kError : Severity::kWarning, kStated);
  finding.frameworks = {seen.name, "any"};
  finding.Param("framework", seen.name).Param("version", seen.version);
  const std::string driver_cuda = context.evidence.Text("driver.cuda_version").value_or("");
  finding.Param("driver_cuda", driver_cuda.empty() ? "?" : driver_cuda);
  AddItem(finding, seen.version_fact);
  AddItem(finding, seen.cuda_fact);
  AddItem(finding, seen.sees_fact);
  return finding;
}

RuleOutcome Check(const RuleContext& context) {
  const std::vector<FrameworkSeen> all = FrameworksSeen(context);
  if (all.empty()) return RuleOutcome::CannotTell({"framework.torch.cuda_built", "framework.tensorflow.cuda_built"});
  RuleOutcome outcome;
  bool known = false;
  for (const FrameworkSeen& seen : all) {
    known = known || seen.cuda.has_value() || seen.sees_gpu == true;
    if (seen.cuda != "" || seen.sees_gpu == true) continue;
    outcome.kind = RuleOutcome::Kind::kFired;
    outcome.findings.push_back(Describe(context, seen));
  }
  if (!known) return RuleOutcome::CannotTell({"framework.torch.cuda_built", "framework.tensorflow.cuda_built"});
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
