// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_no_gpu_present;

namespace {

constexpr std::string_view kNeeds[] = {"host.gpu.pci.count", "driver.nvml.ok"};

// nvidia-smi reached the driver, and the driver has no GPU: taken out, switched off, or given up at start-up.
RuleOutcome CheckText(const RuleContext& context) {
  const Fact* none = Said(context.evidence, "smi_no_devices");
  if (none == nullptr) return RuleOutcome::CannotTell({"log.smi_no_devices"});
  Finding finding = MakeFinding(kRule_no_gpu_present, Severity::kWarning, kOneWitness);
  finding.implies = GpuUsed::kNo;
  finding.next = "lspci -nn | grep -i nvidia; sudo dmesg | grep -iE 'nvrm|xid'";
  finding.Param("other", "-");
  AddItem(finding, none);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const std::optional<bool> present = GpuPresent(context.evidence);
  if (!present) return RuleOutcome::CannotTell({"host.gpu.pci.count"});
  if (*present) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_no_gpu_present, Severity::kError, kStated);
  finding.implies = GpuUsed::kNo;
  AddItem(finding, context.evidence.Find("host.gpu.pci.count"));
  const Fact* other = context.evidence.Find("host.gpu.other");
  finding.Param("other",
                other != nullptr && other->value.known() && !other->value.Show().empty() ? other->value.Show() : "-");
  AddItem(finding, other);
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
