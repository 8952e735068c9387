// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/builds.h"
#include "engine/text_facts.h"
#include "knowledge/drivers.h"

namespace gpuwhy::rules {

extern const Rule kRule_driver_too_old;

namespace {

constexpr std::string_view kNeeds[] = {"driver.cuda_version", "driver.version", "framework.torch.cuda_built",
                                       "framework.tensorflow.cuda_version", "framework.torch.cuda_error"};

// The two sides of the comparison.
struct Sides {
  std::string built, offered;  // CUDA versions, "" = unknown
  std::string found;           // the number that CUDA gave, such as 10010
  const Fact* built_fact = nullptr;
  const Fact* offered_fact = nullptr;
};

// "... too old (found version 10010)" -> 10010, "" when there is no number.
std::string FoundNumber(const std::string& error) {
  constexpr std::string_view kWords = "found version ";
  const size_t at = error.find(kWords);
  if (at == std::string::npos) return "";
  const size_t from = at + kWords.size();
  return error.substr(from, error.find_first_not_of("0123456789", from) - from);
}

bool SaysTooOld(const std::string& error) {
  return Contains(error, "driver on your system is too old") || Contains(error, "driver version is insufficient") ||
         Contains(error, "cudaErrorInsufficientDriver");
}

// What the driver offers by itself: a compatibility library shows a higher version than the branch has.
void FindOffered(const Evidence& evidence, Sides& sides) {
  if (sides.offered.empty() && !sides.found.empty())
    sides.offered = knowledge::CudaOfNumber(ParseInt(sides.found).value_or(0));
  if (!sides.offered.empty()) return;
  sides.offered_fact = evidence.Find("driver.cuda_version");
  const std::string shown = sides.offered_fact != nullptr ? sides.offered_fact->value.AsText().value_or("") : "";
  const knowledge::DriverBranch* branch = knowledge::BranchOfDriver(evidence.Text("driver.version").value_or(""));
  const bool compat = branch != nullptr && knowledge::CompareVersions(branch->cuda_max, shown).value_or(0) < 0;
  sides.offered = !shown.empty() && !compat ? shown : branch != nullptr ? std::string(branch->cuda_max) : shown;
}

// The toolkit that an environment brings is what its packages run with, whatever they were built for.
void FindBuilt(const Evidence& evidence, Sides& sides) {
  const Fact* toolkit = Said(evidence, "conda_cudatoolkit");
  const std::string version = FirstCaptured(evidence, "conda_cudatoolkit", "version");
  if (!sides.built.empty() || toolkit == nullptr || !ParseVersion(version)) return;
  sides.built_fact = toolkit;
  const std::optional<Version> numbers = ParseVersion(version);
  sides.built = std::to_string(numbers->major()) + "." + std::to_string(numbers->minor());
}

Finding Describe(const RuleContext& context, const Sides& sides, const std::string& framework, double confidence) {
  const Evidence& evidence = context.evidence;
  Finding finding = MakeFinding(kRule_driver_too_old, Severity::kError, confidence);
  finding.implies = GpuUsed::kNo;
  if (!framework.empty()) finding.frameworks = {framework, "any"};
  const std::string_view oldest = knowledge::OldestDriverFor(sides.built, NativeWindows(evidence));
  const std::string driver = evidence.Text("driver.version").value_or("");
  finding.Param("framework", framework.empty() ? "@too_old.program" : framework).Param("built", sides.built);
  finding.Param("offered", sides.offered).Param("driver", driver);
  finding.Param("oldest", std::string(oldest)).Param("found", sides.found);
  finding.Param("lower", sides.offered.empty() ? "" : "@too_old.lower");
  finding.Param("need", sides.built.empty() ? "@too_old.need_newer"
                        : oldest.empty()    ? "@too_old.need_cuda"
                                            : "@too_old.need_driver");
  finding.Param("offer", sides.offered.empty()  ? "@too_old.offer_less"
                         : !sides.found.empty() ? "@too_old.offer_number"
                         : driver.empty()       ? "@too_old.offer_cuda"
                                                : "@too_old.offer_driver");
  AddItem(finding, evidence.Find("driver.version"));
  AddLine(finding, sides.offered_fact);
  AddLine(finding, sides.built_fact);
  return finding;
}

// A message of CUDA, a container or a framework that names the driver as too old.
const Fact* StatedBy(const Evidence& evidence) {
  for (const char* id : {"torch_driver_too_old", "cuda_driver_insufficient", "container_cuda_requirement",
                         "ngc_driver_found", "cuda_unsupported_ptx"}) {
    if (const Fact* said = Said(evidence, id)) return said;
  }
  return nullptr;
}

RuleOutcome FromLines(const RuleContext& context, const std::vector<KnownBuild>& all, const Fact* said) {
  // Error 804 beside it: the old driver was bridged, and the bridge broke (cuda-compat-on-unsupported-hw).
  if (Said(context.evidence, "cuda_compat_unsupported") != nullptr) return RuleOutcome::Clear();
  Sides sides;
  sides.found = FirstCaptured(context.evidence, "torch_driver_too_old", "version");
  sides.built = FirstCaptured(context.evidence, "container_cuda_requirement", "needed");
  std::string framework;
  const KnownBuild* job = nullptr;
  for (const KnownBuild& known : all) {
    if (!known.seen.in_job || job != nullptr) continue;
    job = &known;
    framework = known.seen.name;
  }
  FindBuilt(context.evidence, sides);
  if (sides.built.empty() && job != nullptr) {
    sides.built = job->built_for();
    sides.built_fact = job->seen.cuda_fact != nullptr ? job->seen.cuda_fact : job->seen.version_fact;
  }
  const knowledge::DriverBranch* found =
      knowledge::BranchOfDriver(FirstCaptured(context.evidence, "ngc_driver_found", "found"));
  if (found != nullptr) sides.offered = found->cuda_max;
  FindOffered(context.evidence, sides);
  // "Insufficient" is also said where libcuda is not found at all; a driver that is new enough has another fault.
  const bool exact = Said(context.evidence, "torch_driver_too_old") != nullptr;
  // PTX is compiled by the driver, which knows only the PTX of its own CUDA version and of older ones.
  const bool ptx = said->name == "log.cuda_unsupported_ptx";
  if (ptx && knowledge::CompareVersions(sides.offered, sides.built).value_or(-1) >= 0) return RuleOutcome::Clear();
  if (!exact && !ptx && knowledge::DriverRuns(sides.offered, sides.built) == true) return RuleOutcome::Clear();
  const bool compared = knowledge::DriverRuns(sides.offered, sides.built) == false;
  Finding finding = Describe(context, sides, framework, exact || compared ? kStated : kTwoWitnesses);
  if (ptx) finding.implies = GpuUsed::kUnknown;  // kernels with machine code run
  AddLine(finding, said);
  if (exact) AddLine(finding, MainFact(context, "framework.torch.cuda_error"));
  return RuleOutcome::Fired(std::move(finding));
}

// Compares one framework with the driver; nothing when both are fine or one is unknown.
std::optional<Finding> Compare(const RuleContext& context, const KnownBuild& known, bool& compared) {
  const FrameworkSeen& seen = known.seen;
  Sides sides;
  const bool says = SaysTooOld(seen.error);
  sides.built = known.built_for();
  sides.built_fact = seen.cuda_fact != nullptr ? seen.cuda_fact : seen.version_fact;
  sides.found = says ? FoundNumber(seen.error) : "";
  FindOffered(context.evidence, sides);
  const std::optional<bool> runs = knowledge::DriverRuns(sides.offered, sides.built);
  compared = compared || runs || says;
  // A framework that sees its GPU is right about its driver (a compatibility package may be at work).
  if (seen.sees_gpu == true || (!says && runs != false)) return std::nullopt;
  Finding finding = Describe(context, sides, seen.name, says ? kStated : kTwoWitnesses);
  if (!seen.in_job) {
    finding.severity = Severity::kWarning;
    finding.implies = GpuUsed::kUnknown;
  }
  if (says)
    finding.evidence.push_back({"framework.torch.cuda_error", Value::Of(seen.error), "", Source::kFramework, "", ""});
  return finding;
}

RuleOutcome Check(const RuleContext& context) {
  const std::vector<KnownBuild> all = BuildsSeen(context);
  if (const Fact* said = StatedBy(context.evidence)) return FromLines(context, all, said);
  RuleOutcome outcome;
  bool compared = false;
  for (const KnownBuild& known : all) {
    if (std::optional<Finding> finding = Compare(context, known, compared))
      outcome.findings.push_back(std::move(*finding));
  }
  if (!outcome.findings.empty())
    outcome.kind = RuleOutcome::Kind::kFired;
  else if (!compared)
    return RuleOutcome::CannotTell({"driver.cuda_version", "framework.torch.cuda_built"});
  return outcome;
}

}  // namespace

extern constinit const Rule kRule_driver_too_old{
    .id = "GW203", .name = "driver-too-old", .since = "0.1", .stage = Stage::kDriver, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
