// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"
#include "knowledge/drivers.h"
#include "knowledge/gpus.h"

namespace gpuwhy::rules {

extern const Rule kRule_cuda_compat_on_unsupported_hw;

namespace {

constexpr std::string_view kNeeds[] = {"driver.version", "driver.cuda_version", "framework.torch.cuda_error",
                                       "gpu.name"};

// CUDA's own word for it: error 804 (cuda.h, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE).
const Fact* SaysCompat(const RuleContext& context) {
  for (const char* name : {"framework.torch.cuda_error", "framework.python.exception"}) {
    const Fact* fact = MainFact(context, name);
    if (fact != nullptr && Contains(fact->value.AsText().value_or(""), "forward compatibility was attempted"))
      return fact;
  }
  return Said(context.evidence, "cuda_compat_unsupported");
}

// The driver shows a CUDA version that its branch has not: the libcuda that answered is not the driver's own.
const knowledge::DriverBranch* Betrayed(const Evidence& evidence) {
  const knowledge::DriverBranch* branch = knowledge::BranchOfDriver(evidence.Text("driver.version").value_or(""));
  const std::string shown = evidence.Text("driver.cuda_version").value_or("");
  if (branch == nullptr || knowledge::CompareVersions(branch->cuda_max, shown).value_or(0) >= 0) return nullptr;
  return branch;
}

bool AnyConsumerGpu(const Evidence& evidence) {
  const std::vector<const Fact*> names = evidence.All("gpu.name");
  return std::any_of(names.begin(), names.end(),
                     [](const Fact* name) { return knowledge::IsConsumerGpu(name->value.AsText().value_or("")); });
}

// User space newer than the kernel module gives 804 as well; that is driver-library-mismatch.
bool PartsDiffer(const Evidence& evidence) {
  const std::string module = evidence.Text("host.driver.version").value_or("");
  const std::string library = evidence.Text("host.driver.library_version").value_or("");
  return knowledge::CompareVersions(module, library).value_or(0) != 0;
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* said = SaysCompat(context);
  const knowledge::DriverBranch* branch = Betrayed(evidence);
  const bool known = said != nullptr || evidence.Text("driver.cuda_version").has_value();
  if (!known) return RuleOutcome::CannotTell({"driver.cuda_version", "framework.torch.cuda_error"});
  if (said == nullptr && (branch == nullptr || !AnyConsumerGpu(evidence))) return RuleOutcome::Clear();
  if (said == nullptr && context.ladder.gpu_used == GpuUsed::kYes) return RuleOutcome::Clear();
  if (branch == nullptr && PartsDiffer(evidence)) return RuleOutcome::Clear();
  Finding finding =
      MakeFinding(kRule_cuda_compat_on_unsupported_hw, said != nullptr ? Severity::kError : Severity::kWarning,
                  said != nullptr ? kStated : kOneWitness);
  if (said != nullptr) finding.implies = GpuUsed::kNo;
  const std::string driver = evidence.Text("driver.version").value_or("");
  const knowledge::DriverBranch* own = knowledge::BranchOfDriver(driver);
  if (own != nullptr) finding.Param("driver", driver).Param("native", std::string(own->cuda_max));
  if (branch != nullptr) finding.Param("shown", evidence.Text("driver.cuda_version").value_or(""));
  finding.Param("own", own != nullptr ? "@compat.own" : "");
  finding.Param("versions", branch != nullptr ? "@compat.shown" : own != nullptr ? "@compat.native" : "");
  AddItem(finding, said);
  AddItem(finding, evidence.Find("driver.version"));
  AddItem(finding, evidence.Find("driver.cuda_version"));
  AddItem(finding, evidence.Find("gpu.name"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_cuda_compat_on_unsupported_hw{.id = "GW206",
                                                                .name = "cuda-compat-on-unsupported-hw",
                                                                .since = "0.1",
                                                                .stage = Stage::kDriver,
                                                                .needs = kNeeds,
                                                                .check = &Check};

}  // namespace gpuwhy::rules
