// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"
#include "knowledge/errors.h"

namespace gpuwhy::rules {

extern const Rule kRule_gpu_hardware_lost;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.lost", "gpu.error", "log.xid", "log.cuda_ecc", "host.gpu.pci.silent"};

// Xid numbers that speak of the board, the link or its firmware, not of the program (NVIDIA, Xid errors): double-bit
// ECC, NVLink, off the bus, uncontained ECC, GSP.
constexpr const char* kBoard[] = {"48", "74", "79", "95", "119", "120", "140"};

const Fact* BoardXid(const Evidence& evidence, std::string& number) {
  for (const std::string& seen : Captured(evidence, "xid", "number")) {
    for (const char* board : kBoard) {
      if (seen != board) continue;
      number = seen;
      return Said(evidence, "xid");
    }
  }
  return nullptr;
}

// A broken fan sensor gives ERR! beside good readings, a GPU that is gone has none. The memory is the driver's own
// count.
bool AnswersNothing(const Evidence& evidence, const Entity& gpu) {
  for (const char* name : {"gpu.utilization.ratio", "gpu.temperature.celsius", "gpu.pstate", "gpu.power.watts"}) {
    const Fact* fact = evidence.Find(name, gpu);
    if (fact != nullptr && fact->value.known()) return false;
  }
  return true;
}

// nvidia-smi prints an error in place of the readings.
const Fact* Unreadable(const Evidence& evidence) {
  for (const Fact* error : evidence.All("gpu.error")) {
    const std::string text = error->value.AsText().value_or("");
    if (Contains(text, "lost") || Contains(text, "equires reset") || AnswersNothing(evidence, error->entity))
      return error;
  }
  return Said(evidence, "smi_needs_reset");
}

// The kernel module found the board and could not start it, or its configuration space reads as ff. Laptops that switch
// their GPU off show ff as well: nvidia-smi has to miss it too.
const Fact* StartFailed(const Evidence& evidence) {
  const Fact* silent = evidence.Find("host.gpu.pci.silent");
  const bool missed = Said(evidence, "smi_no_devices") != nullptr || Said(evidence, "smi_no_driver") != nullptr;
  if (silent != nullptr && missed) return silent;
  if (Said(evidence, "smi_no_devices") != nullptr && evidence.Int("host.gpu.pci.count").value_or(0) > 0)
    return evidence.Find("host.gpu.pci.devices");
  return evidence.All("gpu.name").empty() ? Said(evidence, "rm_init_failed") : nullptr;
}

Finding Describe(const Fact* fact, double confidence, const char* what, const std::string& xid) {
  Finding finding = MakeFinding(kRule_gpu_hardware_lost, Severity::kError, confidence);
  finding.implies = GpuUsed::kNo;
  finding.Param("what", what).Param("xid", xid);
  AddItem(finding, fact);
  return finding;
}

RuleOutcome Look(const Evidence& evidence) {
  for (const Fact* lost : evidence.All("gpu.lost")) {
    if (lost->value.AsBool() == true) return RuleOutcome::Fired(Describe(lost, kStated, "@lost.gone", "79"));
  }
  std::string xid;
  for (const char* id : {"smi_gpu_lost", "fallen_off_bus"}) {
    const Fact* said = Said(evidence, id);
    if (said == nullptr) continue;
    Finding finding = Describe(said, kStated, "@lost.gone", "79");
    AddItem(finding, BoardXid(evidence, xid));
    return RuleOutcome::Fired(std::move(finding));
  }
  if (const Fact* board = BoardXid(evidence, xid)) {
    const knowledge::Xid* known = knowledge::FindXid(static_cast<int>(ParseInt(xid).value_or(0)));
    Finding finding = Describe(board, kStated, "@lost.xid", xid);
    if (known == nullptr) finding.severity = Severity::kWarning;
    return RuleOutcome::Fired(std::move(finding));
  }
  if (const Fact* ecc = Said(evidence, "cuda_ecc"))
    return RuleOutcome::Fired(Describe(ecc, kStated, "@lost.ecc", "48"));
  if (const Fact* error = Unreadable(evidence)) {
    Finding finding = Describe(error, kTwoWitnesses, "@lost.unreadable", "79");
    finding.Param("error", error->entity.kind == EntityKind::kGpu ? error->value.Show() : "GPU requires reset");
    return RuleOutcome::Fired(std::move(finding));
  }
  if (const Fact* handle = Said(evidence, "smi_device_handle")) {
    Finding finding = Describe(handle, kTwoWitnesses, "@lost.handle", "79");
    finding.Param("bus", FirstCaptured(evidence, "smi_device_handle", "bus"));
    return RuleOutcome::Fired(std::move(finding));
  }
  if (const Fact* likely = StartFailed(evidence)) {
    Finding finding = Describe(likely, kOneWitness, "@lost.start", "79");
    finding.severity = Severity::kWarning;
    AddItem(finding, Said(evidence, "smi_no_devices"));
    return RuleOutcome::Fired(std::move(finding));
  }
  const bool asked =
      !evidence.All("gpu.lost").empty() || Said(evidence, "xid") != nullptr || !evidence.All("gpu.name").empty();
  return asked ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"gpu.lost", "log.xid"});
}

RuleOutcome Check(const RuleContext& context) {
  RuleOutcome outcome = Look(context.evidence);
  // The job may run on another GPU of the machine.
  for (Finding& finding : outcome.findings) {
    if (context.ladder.gpu_used == GpuUsed::kYes) finding.implies = GpuUsed::kUnknown;
  }
  return outcome;
}

}  // namespace

extern constinit const Rule kRule_gpu_hardware_lost{.id = "GW208",
                                                    .name = "gpu-hardware-lost",
                                                    .since = "0.1",
                                                    .stage = Stage::kHardware,
                                                    .needs = kNeeds,
                                                    .check = &Check};

}  // namespace gpuwhy::rules
