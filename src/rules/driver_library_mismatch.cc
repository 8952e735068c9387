// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_driver_library_mismatch;

namespace {

constexpr std::string_view kNeeds[] = {"driver.nvml.error", "host.driver.version", "host.driver.library_version"};

constexpr int64_t kNvmlMismatch = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* error = evidence.Find("driver.nvml.error");
  const Fact* kernel = evidence.Find("host.driver.version");
  const Fact* library = evidence.Find("host.driver.library_version");
  const Fact* said = Said(evidence, "nvml_mismatch");
  const bool says = said != nullptr || (error != nullptr && error->value.AsInt() == kNvmlMismatch);
  const std::optional<std::string> in_kernel = kernel != nullptr ? kernel->value.AsText() : std::nullopt;
  const std::optional<std::string> on_disk = library != nullptr ? library->value.AsText() : std::nullopt;
  const bool versions_known = in_kernel && on_disk && !in_kernel->empty() && !on_disk->empty();
  if (!says && !versions_known)
    return RuleOutcome::CannotTell({"driver.nvml.error", "host.driver.version", "host.driver.library_version"});
  // NVML that works proves that its own library fits, whatever other copies lie about.
  if (!says && (*in_kernel == *on_disk || evidence.Bool("driver.nvml.ok") == true)) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_driver_library_mismatch, Severity::kError, says ? kStated : kTwoWitnesses);
  finding.Param("kernel", in_kernel.value_or("@param.unknown"))
      .Param("library", on_disk.value_or(evidence.Text("host.driver.nvml_version").value_or("@param.unknown")));
  finding.implies = GpuUsed::kNo;
  AddItem(finding, said != nullptr ? said : error);
  AddItem(finding, kernel);
  AddItem(finding, library);
  AddItem(finding, evidence.Find("host.driver.nvml_version"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_driver_library_mismatch{.id = "GW205",
                                                          .name = "driver-library-mismatch",
                                                          .since = "0.1",
                                                          .stage = Stage::kDriver,
                                                          .needs = kNeeds,
                                                          .check = &Check};

}  // namespace gpuwhy::rules
