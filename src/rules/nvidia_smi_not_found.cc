// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/builds.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_nvidia_smi_not_found;

namespace {

constexpr std::string_view kNeeds[] = {"nvidia_smi.on_path", "nvidia_smi.path", "driver.version"};

Finding Describe(const RuleContext& context, Severity severity, double confidence) {
  Finding finding = MakeFinding(kRule_nvidia_smi_not_found, severity, confidence);
  finding.Param("place", NativeWindows(context.evidence) ? "C:\\Windows\\System32" : "/usr/bin");
  return finding;
}

// The shell's word. Beside a framework that sees its GPU, or an answer of the driver, it is a note.
RuleOutcome FromShell(const RuleContext& context, const Fact* said) {
  bool works = context.evidence.Text("driver.version").has_value();
  for (const KnownBuild& known : BuildsSeen(context)) works = works || known.seen.sees_gpu == true;
  Finding finding = Describe(context, works ? Severity::kInfo : Severity::kWarning, kStated);
  AddItem(finding, said);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  // No Mac has an NVIDIA driver of today, nor its tools.
  if (Said(evidence, "tf_metal") != nullptr || Said(evidence, "mentions_mps") != nullptr) return RuleOutcome::Clear();
  if (const Fact* said = Said(evidence, "nvidia_smi_not_found")) return FromShell(context, said);
  if (FromText(evidence)) return RuleOutcome::Clear();
  const Fact* on_path = evidence.Find("nvidia_smi.on_path");
  if (on_path == nullptr || !on_path->value.known()) return RuleOutcome::CannotTell({"nvidia_smi.on_path"});
  // Without a driver there is no nvidia-smi either: driver-missing says so.
  const bool driver = evidence.Bool("host.driver.module") == true || evidence.Text("driver.version").has_value();
  if (on_path->value.AsBool() == true || !driver) return RuleOutcome::Clear();
  Finding finding = Describe(context, Severity::kInfo, kStated);
  const Fact* found = evidence.Find("nvidia_smi.path");
  const StringList places = found != nullptr ? found->value.AsList().value_or(StringList{}) : StringList{};
  if (!places.empty()) finding.Param("place", places.front());
  AddItem(finding, on_path);
  AddItem(finding, found);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_nvidia_smi_not_found{.id = "GW109",
                                                       .name = "nvidia-smi-not-found",
                                                       .since = "0.1",
                                                       .stage = Stage::kNote,
                                                       .needs = kNeeds,
                                                       .check = &Check};

}  // namespace gpuwhy::rules
