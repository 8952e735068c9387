// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"
#include "engine/virtual_gpu.h"

namespace gpuwhy::rules {

extern const Rule kRule_vgpu_unlicensed;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.vgpu.license"};

bool Shared(const Fact* mode) { return mode == nullptr || mode->value.AsText() == "default"; }

// A virtual GPU that CUDA calls busy in the shared mode: what users of one without a licence report. Nobody shows the
// licence, so it is only likely.
RuleOutcome Suspect(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* name = VirtualGpu(evidence);
  if (const Fact* failed = Said(evidence, "vgpu_licence_failed")) {
    // The licence client's own word; it may have tried again since.
    Finding finding = MakeFinding(kRule_vgpu_unlicensed, Severity::kWarning, kTwoWitnesses);
    finding.Param("gpu", name != nullptr ? name->value.Show() : "@vgpu.some").Param("state", "@vgpu.refused");
    finding.Param("licence", "@param.unknown");
    AddItem(finding, failed);
    AddItem(finding, name);
    AddItem(finding, Said(evidence, "cuda_devices_busy"));
    return RuleOutcome::Fired(std::move(finding));
  }
  const Fact* refused = Said(evidence, "cuda_devices_busy");
  if (name == nullptr || refused == nullptr) return RuleOutcome::CannotTell({"gpu.vgpu.license"});
  const Fact* mode = evidence.Find("gpu.compute_mode", name->entity);
  if (!Shared(mode)) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_vgpu_unlicensed, Severity::kWarning, kOneWitness);
  finding.implies = GpuUsed::kNo;
  finding.Param("gpu", name->value.Show()).Param("state", "@vgpu.suspected").Param("licence", "@param.unknown");
  AddItem(finding, refused);
  AddItem(finding, name);
  AddItem(finding, mode);
  return RuleOutcome::Fired(std::move(finding));
}

// Without a licence a vGPU works at full speed for a while, then at a fraction of it (vGPU Client Licensing user
// guide).
RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const std::vector<const Fact*> licences = evidence.All("gpu.vgpu.license");
  if (licences.empty()) return Suspect(context);
  for (const Fact* licence : licences) {
    if (!Contains(licence->value.AsText().value_or(""), "Unlicensed")) continue;
    Finding finding = MakeFinding(kRule_vgpu_unlicensed, Severity::kWarning, kStated);
    const Fact* name = evidence.Find("gpu.name", licence->entity);
    finding.Param("gpu", name != nullptr ? name->value.Show() : licence->entity.id)
        .Param("licence", licence->value.Show())
        .Param("state", "@vgpu.reported");
    AddItem(finding, licence);
    AddItem(finding, name);
    AddItem(finding, evidence.Find("gpu.utilization.ratio", licence->entity));
    // A compute process on it and a duty cycle above zero: it works, slowly.
    for (const Fact* type : evidence.All("process.gpu.type")) {
      const Series& use = evidence.Samples("gpu.utilization.ratio", licence->entity);
      if (type->entity.gpu() != licence->entity.id || type->value.Show() == "G" ||
          MaxOf(use, -1e18, 1e18).value_or(0) <= 0)
        continue;
      finding.implies = GpuUsed::kYes;
      AddItem(finding, type);
      break;
    }
    // "busy or unavailable" in the shared mode: refused for want of a licence.
    const Fact* refused = Said(evidence, "cuda_devices_busy");
    const Fact* mode = evidence.Find("gpu.compute_mode", licence->entity);
    if (refused != nullptr && Shared(mode)) {
      finding.severity = Severity::kError;
      finding.implies = GpuUsed::kNo;
      AddItem(finding, refused);
    }
    return RuleOutcome::Fired(std::move(finding));
  }
  return RuleOutcome::Clear();
}

}  // namespace

extern constinit const Rule kRule_vgpu_unlicensed{
    .id = "GW307", .name = "vgpu-unlicensed", .since = "0.1", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
