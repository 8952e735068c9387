// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_driver_too_old;

namespace {

constexpr std::string_view kNeeds[] = {"driver.cuda_version", "framework.torch.cuda_built",
                                       "framework.tensorflow.cuda_version"};

// From CUDA 11 on any driver of the same major version runs programs built for a newer minor one (CUDA Compatibility
// guide, "minor version compatibility"); before, the driver's version must be at least the program's.
bool TooOld(const Version& driver, const Version& built) {
  if (built.major() >= 11) return driver.major() < built.major();
  return Compare(driver, built) < 0;
}

RuleOutcome Check(const RuleContext& context) {
  const Fact* driver = context.evidence.Find("driver.cuda_version");
  const std::optional<Version> offered =
      driver != nullptr ? ParseVersion(driver->value.AsText().value_or("")) : std::nullopt;
  RuleOutcome outcome;
  bool compared = false;
  for (const FrameworkSeen& seen : FrameworksSeen(context)) {
    const std::optional<Version> built = seen.cuda ? ParseVersion(*seen.cuda) : std::nullopt;
    const bool says = Contains(seen.error, "driver on your system is too old") ||
                      Contains(seen.error, "driver version is insufficient");
    compared = compared || (built && offered) || says;
    // A framework that sees its GPU is right about its driver (a compatibility package may be at work).
    if (seen.sees_gpu == true || (!says && !(built && offered && TooOld(*offered, *built)))) continue;
    Finding finding = MakeFinding(kRule_driver_too_old, seen.in_job ? Severity::kError : Severity::kWarning,
                                  says ? kStated : kTwoWitnesses);
    finding.frameworks = {seen.name, "any"};
    finding.Param("framework", seen.name).Param("built", seen.cuda.value_or("?"));
    finding.Param("offered", offered ? *driver->value.AsText() : "?")
        .Param("driver", context.evidence.Text("driver.version").value_or("?"));
    AddItem(finding, context.evidence.Find("driver.version"));
    AddItem(finding, driver);
    AddItem(finding, seen.cuda_fact);
    if (says)
      finding.evidence.push_back({"framework.torch.cuda_error", Value::Of(seen.error), "", Source::kFramework, ""});
    outcome.kind = RuleOutcome::Kind::kFired;
    outcome.findings.push_back(std::move(finding));
  }
  if (outcome.findings.empty() && !compared)
    return RuleOutcome::CannotTell({"driver.cuda_version", "framework.torch.cuda_built"});
  return outcome;
}

}  // namespace

extern constinit const Rule kRule_driver_too_old{
    .id = "GW203", .name = "driver-too-old", .since = "0.1", .stage = Stage::kDriver, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
