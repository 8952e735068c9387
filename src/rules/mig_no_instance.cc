// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_mig_no_instance;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.mig.mode", "gpu.mig.instances", "gpu.mig.none_listed"};

const Fact* FirstDenial(const RuleContext& context) {
  for (const char* name : {"framework.torch.cuda_error", "framework.torch.cuda_available",
                           "framework.tensorflow.gpu_count", "framework.jax.backend"}) {
    if (const Fact* fact = MainFact(context, name)) return fact;
  }
  return nullptr;
}

struct Found {
  std::vector<const Fact*> empty;          // MIG is on and no instance is there
  std::vector<const Fact*> lists;          // entries of `nvidia-smi -L` that show it
  size_t known = 0, split = 0, plain = 0;  // GPUs of which it can be told, with instances, without MIG
};

// A table of instances (or NVML) says which there are; `nvidia-smi -L` lists them below their GPU; `nvidia-smi mig`
// speaks of all GPUs and says something else of one without MIG.
Found LookAtInstances(const Evidence& evidence, const Fact* none) {
  Found found;
  for (const Fact* mode : evidence.All("gpu.mig.mode")) {
    if (mode->value.AsBool() == false) ++found.plain;
    if (mode->value.AsBool() != true) continue;
    const Fact* instances = evidence.Find("gpu.mig.instances", mode->entity);
    const Fact* list = evidence.Find("gpu.mig.none_listed", mode->entity);
    const bool tabled = instances != nullptr && instances->value.AsList();
    if (!tabled && list == nullptr && none == nullptr) continue;
    ++found.known;
    if (tabled && !instances->value.AsList()->empty()) {
      ++found.split;
      continue;
    }
    found.empty.push_back(mode);
    if (!tabled && list != nullptr) found.lists.push_back(list);
  }
  return found;
}

// Somebody says that he finds no device.
const Fact* Denied(const RuleContext& context) {
  for (const char* id : {"cuda_no_device", "torch_no_gpus", "cuda_invalid_ordinal"}) {
    if (const Fact* said = Said(context.evidence, id)) return said;
  }
  return context.ladder.rung(Source::kFramework).gpu_used == GpuUsed::kNo ? FirstDenial(context) : nullptr;
}

// CUDA sees instances, not the GPU, as soon as MIG is on (MIG user guide): without one it finds no device there.
RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* none = Said(evidence, "smi_no_gpu_instances");
  const Found found = LookAtInstances(evidence, none);
  if (found.known == 0 && found.plain == 0) return RuleOutcome::CannotTell({"gpu.mig.mode", "gpu.mig.instances"});
  if (found.empty.empty()) return RuleOutcome::Clear();
  // With an instance elsewhere CUDA finds that one. A GPU without MIG beside it does not help: users with one saw "no
  // device" all the same until MIG was off. Where nobody complained it waits to become a cause.
  const Fact* denied = Denied(context);
  const bool cause = denied != nullptr && found.split == 0;
  const Severity severity = cause ? Severity::kError : denied == nullptr ? Severity::kWarning : Severity::kInfo;
  Finding finding = MakeFinding(kRule_mig_no_instance, severity,
                                !cause                ? kOneWitness
                                : found.lists.empty() ? kStated
                                                      : kTwoWitnesses);
  if (cause) finding.implies = GpuUsed::kNo;
  std::vector<std::string> indices;
  for (const Fact* mode : found.empty) {
    const Fact* index = evidence.Find("gpu.index", mode->entity);
    indices.push_back(index != nullptr ? index->value.Show() : mode->entity.id);
    AddItem(finding, mode);
  }
  finding.Param("gpus", Join(indices, ", "));
  for (const Fact* list : found.lists) AddItem(finding, list);
  AddLine(finding, Said(evidence, "smi_no_mig_devices"));
  AddLine(finding, none);
  AddItem(finding, denied);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_mig_no_instance{.id = "GW305",
                                                  .name = "mig-no-instance",
                                                  .since = "0.1",
                                                  .stage = Stage::kVisibility,
                                                  .needs = kNeeds,
                                                  .check = &Check};

}  // namespace gpuwhy::rules
