// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_device_hidden_by_env;

namespace {

constexpr std::string_view kNeeds[] = {"process.env.CUDA_VISIBLE_DEVICES", "process.env.NVIDIA_VISIBLE_DEVICES",
                                       "process.env.HIP_VISIBLE_DEVICES", "framework.torch.cuda_available"};

// Who reads a variable decides what its values mean.
enum class Reader { kDriver, kContainer, kRocm };
struct Variable {
  const char* name;
  Reader reader;
};
constexpr Variable kVariables[] = {{"CUDA_VISIBLE_DEVICES", Reader::kDriver},
                                   {"NVIDIA_VISIBLE_DEVICES", Reader::kContainer},
                                   {"HIP_VISIBLE_DEVICES", Reader::kRocm},
                                   {"ROCR_VISIBLE_DEVICES", Reader::kRocm}};

enum class Hides { kNo, kIfConfirmed, kYes };

// A text may show fewer GPUs than there are: what follows from their number needs the framework's word.
Hides Outside(const Evidence& evidence) { return FromText(evidence) ? Hides::kIfConfirmed : Hides::kYes; }

Hides HidesUuid(std::string_view first, const Evidence& evidence) {
  bool found = false, any = !FromText(evidence) && !evidence.Entities(EntityKind::kGpu).empty();
  for (const Entity& gpu : evidence.Entities(EntityKind::kGpu)) found = found || gpu.id.rfind(first, 0) == 0;
  for (const Fact* uuid : evidence.All("gpu.uuid")) {
    any = true;
    found = found || uuid->value.Show().rfind(first, 0) == 0;
  }
  return any && !found ? Outside(evidence) : Hides::kNo;
}

// How the driver reads the list: it stops at the first entry that is no device (CUDA programming guide, environment
// variables): nothing, -1, an index too high or a word hides all that follow.
Hides HidesAll(const std::string& value, const Evidence& evidence) {
  const std::string_view first = Trim(Split(value, ',').front());
  if (first.empty()) return Hides::kYes;
  if (first.rfind("GPU-", 0) == 0) return HidesUuid(first, evidence);
  if (first.rfind("MIG-", 0) == 0) return Hides::kNo;
  // "$0" is the name of the shell; what another variable holds is not known.
  if (first[0] == '$' && first != "$0") return Hides::kNo;
  const std::optional<long long> index = ParseInt(first);
  if (!index || *index < 0) return Hides::kYes;
  const std::vector<Entity> gpus = evidence.Entities(EntityKind::kGpu);
  return !gpus.empty() && *index >= static_cast<long long>(gpus.size()) ? Outside(evidence) : Hides::kNo;
}

// The container toolkit passes no GPU in for "void", none of the driver's devices for "none".
Hides HidesByVariable(const Variable& variable, const std::string& value, const RuleContext& context) {
  if (variable.reader == Reader::kContainer)
    return value == "void" || value == "none" ? Hides::kIfConfirmed : Hides::kNo;
  if (variable.reader == Reader::kRocm) {  // builds for CUDA do not read it
    const Fact* hip = MainFact(context, "framework.torch.hip_built");
    if (hip == nullptr || hip->value.AsText().value_or("").empty()) return Hides::kNo;
  }
  return HidesAll(value, context.evidence);
}

// What the framework makes of it: it sees a GPU all the same (false), it sees none (true), or nobody asked it.
std::optional<bool> Confirmed(const RuleContext& context) {
  bool confirmed = false;
  for (const FrameworkSeen& seen : FrameworksSeen(context)) {
    if (seen.in_job && seen.sees_gpu == true) return false;
    confirmed = confirmed || (seen.in_job && seen.sees_gpu == false);
  }
  if (FromText(context.evidence)) {
    const GpuUsed framework = context.ladder.rung(Source::kFramework).gpu_used;
    const Fact* available = MainFact(context, "framework.torch.cuda_available");
    const bool sees = available != nullptr && available->value.AsBool() == true;
    if (framework == GpuUsed::kYes || sees || context.ladder.rung(Source::kDevice).gpu_used == GpuUsed::kYes)
      return false;
    confirmed = confirmed || framework == GpuUsed::kNo;
  }
  return confirmed ? std::optional(true) : std::nullopt;
}

const Fact* ValueOf(const RuleContext& context, const Variable& variable) {
  const std::string name = std::string("process.env.") + variable.name;
  const Fact* fact = MainFact(context, name);
  return fact != nullptr ? fact : context.evidence.Find(name);
}

RuleOutcome Describe(const RuleContext& context, const Variable& variable, const Fact& visible, bool confirmed) {
  const std::string value = visible.value.AsText().value_or("");
  Finding finding = MakeFinding(kRule_device_hidden_by_env, Severity::kError, confirmed ? kStated : kTwoWitnesses);
  finding.implies = GpuUsed::kNo;
  // Code sets it under a condition and shells unset it again: a text has to show what came of it.
  if (FromText(context.evidence) && !confirmed) {
    finding.severity = Severity::kInfo;
    finding.implies = GpuUsed::kUnknown;
  }
  finding.Param("value", value.empty() ? "\"\"" : value).Param("variable", variable.name);
  AddItem(finding, &visible);
  for (const Fact* fact :
       {MainFact(context, "framework.torch.cuda_available"), MainFact(context, "framework.tensorflow.gpu_count"),
        Said(context.evidence, "tf_cuinit_failed")})
    AddLine(finding, fact);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (context.analysis.processes.empty() && !FromText(context.evidence))
    return RuleOutcome::CannotTell({"process.env.CUDA_VISIBLE_DEVICES"});
  for (const Variable& variable : kVariables) {
    const Fact* visible = ValueOf(context, variable);
    if (visible == nullptr) continue;
    if (variable.reader != Reader::kRocm && GpuPresent(context.evidence) == false) continue;
    if (!visible->value.known()) return RuleOutcome::CannotTell({"process.env.CUDA_VISIBLE_DEVICES"});
    const std::string value = visible->value.AsText().value_or("");
    const Hides hides = HidesByVariable(variable, value, context);
    if (hides == Hides::kNo || context.analysis.kernels_total > 0) continue;
    const std::optional<bool> confirmed = Confirmed(context);
    if (confirmed == false || (hides == Hides::kIfConfirmed && !confirmed)) continue;
    // The end of a line that was cut looks like an empty value.
    const std::string_view line = Trim(visible->quote);
    if (!confirmed && value.empty() && !line.empty() && line.back() == '=')
      return RuleOutcome::CannotTell({"framework.torch.cuda_available"});
    return Describe(context, variable, *visible, confirmed.has_value());
  }
  return RuleOutcome::Clear();
}

}  // namespace

extern constinit const Rule kRule_device_hidden_by_env{.id = "GW301",
                                                       .name = "device-hidden-by-env",
                                                       .since = "0.1",
                                                       .stage = Stage::kVisibility,
                                                       .needs = kNeeds,
                                                       .check = &Check};

}  // namespace gpuwhy::rules
