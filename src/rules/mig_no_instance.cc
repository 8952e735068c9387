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

constexpr std::string_view kNeeds[] = {"gpu.mig.mode", "gpu.mig.instances"};

const Fact* FirstDenial(const RuleContext& context) {
  for (const char* name : {"framework.torch.cuda_error", "framework.torch.cuda_available",
                           "framework.tensorflow.gpu_count", "framework.jax.backend"}) {
    if (const Fact* fact = MainFact(context, name)) return fact;
  }
  return nullptr;
}

// CUDA sees instances, not the GPU, as soon as MIG is on (MIG user guide): without one it finds no device there.
RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  // Of a GPU without MIG nvidia-smi says something else.
  const Fact* none = Said(evidence, "smi_no_gpu_instances");
  std::vector<const Fact*> empty;
  size_t known = 0, plain = 0;
  for (const Fact* mode : evidence.All("gpu.mig.mode")) {
    if (mode->value.AsBool() == false) ++plain;
    const Fact* instances = evidence.Find("gpu.mig.instances", mode->entity);
    if (mode->value.AsBool() != true) continue;
    const bool listed = instances != nullptr && instances->value.AsList();
    if (!listed && none == nullptr) continue;
    ++known;
    if (!listed || instances->value.AsList()->empty()) empty.push_back(mode);
  }
  if (known == 0 && plain == 0) return RuleOutcome::CannotTell({"gpu.mig.mode", "gpu.mig.instances"});
  if (empty.empty()) return RuleOutcome::Clear();
  // Somebody says that he finds no device: then it is the cause. Else it only waits to become one.
  const Fact* denied = nullptr;
  for (const char* id : {"cuda_no_device", "torch_no_gpus", "cuda_invalid_ordinal"}) {
    if (denied == nullptr) denied = Said(evidence, id);
  }
  if (denied == nullptr && context.ladder.rung(Source::kFramework).gpu_used == GpuUsed::kNo)
    denied = FirstDenial(context);
  Finding finding = MakeFinding(kRule_mig_no_instance, denied != nullptr ? Severity::kError : Severity::kWarning,
                                denied != nullptr ? kStated : kOneWitness);
  if (denied != nullptr) finding.implies = GpuUsed::kNo;
  std::vector<std::string> indices;
  for (const Fact* mode : empty) {
    const Fact* index = evidence.Find("gpu.index", mode->entity);
    indices.push_back(index != nullptr ? index->value.Show() : mode->entity.id);
    AddItem(finding, mode);
  }
  finding.Param("gpus", Join(indices, ", "));
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
