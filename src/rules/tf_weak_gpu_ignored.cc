// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_tf_weak_gpu_ignored;

namespace {

constexpr std::string_view kNeeds[] = {"log.tf_weak_gpu", "log.tf_created_device"};

// TensorFlow takes a GPU with fewer multiprocessors than the largest of the machine (8 at most) only when the variable
// TF_MIN_GPU_MULTIPROCESSOR_COUNT allows it (gpu_device.cc).
RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* said = Said(evidence, "tf_weak_gpu");
  if (said == nullptr) return RuleOutcome::Clear();
  const Fact* created = Said(evidence, "tf_created_device");
  const bool other = created != nullptr;
  Finding finding = MakeFinding(kRule_tf_weak_gpu_ignored, other ? Severity::kWarning : Severity::kError, kStated);
  finding.implies = other ? GpuUsed::kPartly : GpuUsed::kNo;
  finding.frameworks = {"tensorflow", "any"};
  finding.Param("gpu", FirstCaptured(evidence, "tf_weak_gpu", "gpu"));
  finding.Param("rest", other ? "@weak.others" : "@weak.none");
  finding.Param("cores", FirstCaptured(evidence, "tf_weak_gpu", "cores"));
  finding.Param("needed", FirstCaptured(evidence, "tf_weak_gpu", "needed"));
  AddItem(finding, said);
  AddItem(finding, created);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_tf_weak_gpu_ignored{.id = "GW106",
                                                      .name = "tf-weak-gpu-ignored",
                                                      .since = "0.1",
                                                      .stage = Stage::kVisibility,
                                                      .needs = kNeeds,
                                                      .check = &Check};

}  // namespace gpuwhy::rules
