// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_no_gpu_present;

namespace {

constexpr std::string_view kNeeds[] = {"host.gpu.pci.count", "driver.nvml.ok"};

Finding Describe(const Evidence& evidence, Severity severity, double confidence) {
  Finding finding = MakeFinding(kRule_no_gpu_present, severity, confidence);
  finding.implies = GpuUsed::kNo;
  const Fact* other = evidence.Find("host.gpu.other");
  finding.Param("other",
                other != nullptr && other->value.known() && !other->value.Show().empty() ? other->value.Show() : "-");
  return finding;
}

// A list of the bus without one, or nvidia-smi that reached the driver, which has no GPU: taken out, or switched off.
RuleOutcome CheckText(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* none = Said(evidence, "smi_no_devices");
  const Fact* count = evidence.Find("host.gpu.pci.count");
  if (none == nullptr && count == nullptr) return RuleOutcome::CannotTell({"log.smi_no_devices", "host.gpu.pci.count"});
  // Another command of the text shows one; WSL's bus shows none of Windows' GPUs.
  const bool shown = GpuPresent(evidence) == true || Said(evidence, "rm_init_failed") != nullptr;
  if (shown || evidence.Bool("host.wsl") == true) return RuleOutcome::Clear();
  Finding finding = count != nullptr ? Describe(evidence, Severity::kError, kStated)
                                     : Describe(evidence, Severity::kWarning, kOneWitness);
  if (count == nullptr) finding.next = "lspci -nn | grep -i nvidia; sudo dmesg | grep -iE 'nvrm|xid'";
  for (const Fact* fact : {count, none, evidence.Find("host.gpu.other")}) AddLine(finding, fact);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const std::optional<bool> present = GpuPresent(context.evidence);
  if (!present) return RuleOutcome::CannotTell({"host.gpu.pci.count"});
  if (*present) return RuleOutcome::Clear();
  Finding finding = Describe(context.evidence, Severity::kError, kStated);
  AddItem(finding, context.evidence.Find("host.gpu.pci.count"));
  AddItem(finding, context.evidence.Find("host.gpu.other"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_no_gpu_present{.id = "GW201",
                                                 .name = "no-gpu-present",
                                                 .since = "0.1",
                                                 .stage = Stage::kHardware,
                                                 .needs = kNeeds,
                                                 .check = &Check};

}  // namespace gpuwhy::rules
