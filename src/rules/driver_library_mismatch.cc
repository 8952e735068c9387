// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "engine/lookup.h"
#include "engine/text_facts.h"
#include "knowledge/drivers.h"

namespace gpuwhy::rules {

extern const Rule kRule_driver_library_mismatch;

namespace {

constexpr std::string_view kNeeds[] = {"driver.nvml.error", "host.driver.version", "host.driver.library_version"};

constexpr int64_t kNvmlMismatch = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH

struct Parts {
  std::string kernel, library;  // "" = not known
  const Fact* kernel_fact = nullptr;
  const Fact* library_fact = nullptr;
};

std::string TextOf(const Fact* fact) { return fact != nullptr ? fact->value.AsText().value_or("") : ""; }

// TensorFlow compares the two itself and names both; the system's own files know them too.
Parts FindParts(const Evidence& evidence) {
  Parts parts;
  parts.kernel_fact = evidence.Find("host.driver.version");
  parts.library_fact = evidence.Find("host.driver.library_version");
  parts.kernel = TextOf(parts.kernel_fact);
  parts.library = TextOf(parts.library_fact);
  if (parts.kernel.empty()) parts.kernel = FirstCaptured(evidence, "tf_dso_mismatch", "kernel");
  if (parts.library.empty()) parts.library = FirstCaptured(evidence, "tf_dso_mismatch", "library");
  return parts;
}

// Who says so, whatever the versions: NVML, TensorFlow, the kernel module, CUDA (803, cudaErrorSystemDriverMismatch).
const Fact* Stated(const Evidence& evidence) {
  for (const char* id : {"nvml_mismatch", "tf_dso_mismatch", "nvrm_api_mismatch", "cuda_driver_mismatch"}) {
    if (const Fact* said = Said(evidence, id)) return said;
  }
  const Fact* error = evidence.Find("driver.nvml.error");
  return error != nullptr && error->value.AsInt() == kNvmlMismatch ? error : nullptr;
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Parts parts = FindParts(evidence);
  const Fact* said = Stated(evidence);
  // Versions are compared as numbers: TensorFlow drops zeros (470.57.02 is 470.57.2).
  const std::optional<int> order = knowledge::CompareVersions(parts.kernel, parts.library);
  if (said == nullptr && !order)
    return RuleOutcome::CannotTell({"driver.nvml.error", "host.driver.version", "host.driver.library_version"});
  // NVML that works proves that its own library fits, whatever other copies lie about.
  if (said == nullptr && (*order == 0 || evidence.Bool("driver.nvml.ok") == true)) return RuleOutcome::Clear();
  Finding finding =
      MakeFinding(kRule_driver_library_mismatch, Severity::kError, said != nullptr ? kStated : kTwoWitnesses);
  const std::string library =
      parts.library.empty() ? evidence.Text("host.driver.nvml_version").value_or("") : parts.library;
  finding.Param("kernel", parts.kernel).Param("library", library);
  finding.Param("how", parts.kernel.empty() && library.empty() ? "@mismatch.unnamed"
                       : parts.kernel.empty()                  ? "@mismatch.library"
                       : library.empty()                       ? "@mismatch.kernel"
                                                               : "@mismatch.both");
  finding.implies = GpuUsed::kNo;
  AddItem(finding, said);
  AddLine(finding, parts.kernel_fact);
  AddLine(finding, parts.library_fact);
  AddLine(finding, evidence.Find("host.driver.nvml_version"));
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
