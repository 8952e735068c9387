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

constexpr std::string_view kNeeds[] = {"gpu.lost", "gpu.error", "log.xid"};

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

Finding Describe(const Fact* fact, double confidence, const char* what, const std::string& xid) {
  Finding finding = MakeFinding(kRule_gpu_hardware_lost, Severity::kError, confidence);
  finding.implies = GpuUsed::kNo;
  finding.Param("what", what).Param("xid", xid);
  AddItem(finding, fact);
  return finding;
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
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
  if (const Fact* handle = Said(evidence, "smi_device_handle")) {
    Finding finding = Describe(handle, kTwoWitnesses, "@lost.handle", "79");
    finding.Param("bus", FirstCaptured(evidence, "smi_device_handle", "bus"));
    return RuleOutcome::Fired(std::move(finding));
  }
  const bool asked =
      !evidence.All("gpu.lost").empty() || Said(evidence, "xid") != nullptr || !evidence.All("gpu.name").empty();
  return asked ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"gpu.lost", "log.xid"});
}

}  // namespace

extern constinit const Rule kRule_gpu_hardware_lost{.id = "GW208",
                                                    .name = "gpu-hardware-lost",
                                                    .since = "0.1",
                                                    .stage = Stage::kHardware,
                                                    .needs = kNeeds,
                                                    .check = &Check};

}  // namespace gpuwhy::rules
