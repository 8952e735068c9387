// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_driver_not_loaded;

namespace {

constexpr std::string_view kNeeds[] = {"host.driver.module", "host.driver.module_on_disk", "driver.nvml.error"};

constexpr int64_t kNvmlDriverNotLoaded = 9;  // NVML_ERROR_DRIVER_NOT_LOADED

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  if (GpuPresent(evidence) == false) return RuleOutcome::Clear();
  const Fact* module = evidence.Find("host.driver.module");
  const Fact* error = evidence.Find("driver.nvml.error");
  const Fact* said = Said(evidence, "smi_no_driver");
  if (said == nullptr) said = Said(evidence, "nvml_driver_not_loaded");
  // The kernel refused to load it.
  const Fact* rejected = Said(evidence, "module_rejected");
  if (said == nullptr) said = rejected;
  // modprobe: none for the running kernel, or one that it could not insert.
  const Fact* not_found = Said(evidence, "module_not_found");
  const Fact* not_inserted = Said(evidence, "module_not_inserted");
  if (said == nullptr) said = not_inserted != nullptr ? not_inserted : not_found;
  const bool nvml_says = said != nullptr || (error != nullptr && error->value.AsInt() == kNvmlDriverNotLoaded);
  const std::optional<bool> loaded = module != nullptr ? module->value.AsBool() : std::nullopt;
  if (!nvml_says && !loaded) return RuleOutcome::CannotTell({"host.driver.module", "driver.nvml.error"});
  if (!nvml_says && evidence.Bool("host.dxg") == true) return RuleOutcome::Clear();  // WSL: the module runs on Windows
  const bool on_disk = evidence.Bool("host.driver.module_on_disk") == true;
  const Fact* libcuda = evidence.Find("host.driver.libcuda");
  const bool user_part = libcuda != nullptr && !libcuda->value.AsList().value_or(StringList{}).empty();
  if (!nvml_says && (loaded == true || !(on_disk || user_part))) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_driver_not_loaded, Severity::kError, nvml_says ? kStated : kTwoWitnesses);
  const std::string other = evidence.Text("host.driver.module_other").value_or("");
  finding.Param("other", other).Param("bound", other.empty() ? "" : "@notloaded.bound");
  finding.implies = GpuUsed::kNo;
  AddItem(finding, said != nullptr ? said : error);
  for (const Fact* fact : {rejected, not_inserted, not_found}) AddLine(finding, fact);
  AddItem(finding, module);
  const Fact* version = evidence.Find("host.driver.version_on_disk");
  AddItem(finding, version != nullptr ? version : evidence.Find("host.driver.module_on_disk"));
  AddItem(finding, evidence.Find("host.secure_boot"));
  AddItem(finding, evidence.Find("host.driver.module_other"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_driver_not_loaded{.id = "GW204",
                                                    .name = "driver-not-loaded",
                                                    .since = "0.1",
                                                    .stage = Stage::kDriver,
                                                    .needs = kNeeds,
                                                    .check = &Check};

}  // namespace gpuwhy::rules
