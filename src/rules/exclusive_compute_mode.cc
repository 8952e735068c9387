// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"
#include "engine/virtual_gpu.h"

namespace gpuwhy::rules {

extern const Rule kRule_exclusive_compute_mode;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.compute_mode", "process.gpu.listed"};

bool Exclusive(const Fact& mode) {
  const std::string text = mode.value.AsText().value_or("");
  return text == "exclusive-process" || text == "exclusive-thread" || text == "prohibited";
}

// The message of cudaErrorDevicesUnavailable, in a text or in the job's own error.
const Fact* Refused(const RuleContext& context) {
  if (const Fact* said = Said(context.evidence, "cuda_devices_busy")) return said;
  for (const char* name : {"framework.torch.cuda_error", "framework.python.exception"}) {
    const Fact* fact = MainFact(context, name);
    if (fact != nullptr && Contains(fact->value.AsText().value_or(""), "busy or unavailable")) return fact;
  }
  return nullptr;
}

// Of an exclusive GPU: the process that computes on it and is not the job.
const Fact* OwnerOf(const RuleContext& context, const Entity& gpu) {
  const Fact* owner = nullptr;
  for (const Fact* listed : context.evidence.All("process.gpu.type")) {
    const bool ours = listed->entity.pid() > 0 && listed->entity.pid() == context.analysis.main_pid;
    if (listed->entity.gpu() == gpu.id && !ours && listed->value.Show() != "G") owner = listed;
  }
  return owner;
}

// In mode Prohibited CUDA does not show the GPU at all.
const Fact* FoundNone(const RuleContext& context) {
  for (const char* id : {"torch_no_gpus", "cuda_no_device"}) {
    if (const Fact* said = Said(context.evidence, id)) return said;
  }
  if (context.ladder.rung(Source::kFramework).gpu_used != GpuUsed::kNo) return nullptr;
  return MainFact(context, "framework.torch.cuda_available");
}

RuleOutcome Describe(const RuleContext& context, const Fact& mode, const Fact* refused, const Fact* owner) {
  const bool closed = mode.value.AsText() == "prohibited";
  const bool sure = closed || owner != nullptr;  // else whoever has it is in another container, or has ended since
  Finding finding = MakeFinding(kRule_exclusive_compute_mode, sure ? Severity::kError : Severity::kWarning,
                                sure ? kStated : kOneWitness);
  finding.implies = GpuUsed::kNo;
  const Fact* index = context.evidence.Find("gpu.index", mode.entity);
  finding.Param("how", "@exclusive.seen");
  finding.Param("gpu", index != nullptr ? index->value.Show() : mode.entity.id).Param("mode", mode.value.Show());
  finding.Param("owner", closed             ? "@exclusive.prohibited"
                         : owner != nullptr ? "@exclusive.owner"
                                            : "@exclusive.unseen")
      .Param("pid", owner != nullptr ? std::to_string(owner->entity.pid()) : "?");
  AddItem(finding, refused);
  AddItem(finding, &mode);
  AddItem(finding, owner);
  return RuleOutcome::Fired(std::move(finding));
}

// CUDA's message alone: the compute mode is the first reason that its documentation names
// (cudaErrorDevicesUnavailable). A virtual GPU has another (vgpu-unlicensed).
RuleOutcome Suspect(const RuleContext& context) {
  const Fact* refused = Said(context.evidence, "cuda_devices_busy");
  if (refused == nullptr || !FromText(context.evidence) || VirtualGpu(context.evidence) != nullptr)
    return RuleOutcome::CannotTell({"gpu.compute_mode"});
  Finding finding = MakeFinding(kRule_exclusive_compute_mode, Severity::kWarning, kOneWitness);
  finding.implies = GpuUsed::kNo;
  finding.Param("how", "@exclusive.suspected").Param("gpu", "INDEX");
  AddItem(finding, refused);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  const std::vector<const Fact*> modes = context.evidence.All("gpu.compute_mode");
  if (modes.empty()) return Suspect(context);
  const Fact* refused = Refused(context);
  const Fact* unowned = nullptr;
  for (const Fact* mode : modes) {
    if (!Exclusive(*mode)) continue;
    const bool closed = mode->value.AsText() == "prohibited";
    const Fact* denied = refused == nullptr && closed ? FoundNone(context) : refused;
    if (denied == nullptr) continue;
    const Fact* owner = OwnerOf(context, mode->entity);
    if (owner != nullptr || closed) return Describe(context, *mode, denied, owner);
    unowned = mode;
  }
  return unowned != nullptr ? Describe(context, *unowned, refused, nullptr) : RuleOutcome::Clear();
}

}  // namespace

extern constinit const Rule kRule_exclusive_compute_mode{.id = "GW306",
                                                         .name = "exclusive-compute-mode",
                                                         .since = "0.1",
                                                         .stage = Stage::kVisibility,
                                                         .needs = kNeeds,
                                                         .check = &Check};

}  // namespace gpuwhy::rules
