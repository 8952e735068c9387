// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_device_hidden_by_env;

namespace {

constexpr std::string_view kNeeds[] = {"process.env.CUDA_VISIBLE_DEVICES", "framework.torch.cuda_available"};

// How the driver reads the list: it stops at the first entry that is no device (CUDA programming guide, environment
// variables): nothing, -1, an index too high or a word hides all that follow.
bool HidesAll(const std::string& value, const Evidence& evidence) {
  const std::string first(Trim(Split(value, ',').front()));
  if (first.empty()) return true;
  const std::vector<Entity> gpus = evidence.Entities(EntityKind::kGpu);
  if (first.rfind("GPU-", 0) == 0) {
    bool found = gpus.empty();
    for (const Entity& gpu : gpus) found = found || gpu.id.rfind(first, 0) == 0;
    for (const Fact* uuid : evidence.All("gpu.uuid")) found = found || uuid->value.Show().rfind(first, 0) == 0;
    return !found && !FromText(evidence);  // a text seldom shows all UUIDs
  }
  if (first.rfind("MIG-", 0) == 0) return false;
  // "$0" is the name of the shell; what another variable holds is not known.
  if (first[0] == '$' && first != "$0") return false;
  const std::optional<long long> index = ParseInt(first);
  if (!index || *index < 0) return true;
  return !gpus.empty() && !FromText(evidence) && *index >= static_cast<long long>(gpus.size());
}

RuleOutcome Check(const RuleContext& context) {
  const Fact* visible = MainFact(context, "process.env.CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) visible = context.evidence.Find("process.env.CUDA_VISIBLE_DEVICES");
  if (context.analysis.processes.empty() && !FromText(context.evidence))
    return RuleOutcome::CannotTell({"process.env.CUDA_VISIBLE_DEVICES"});
  if (visible == nullptr || GpuPresent(context.evidence) == false) return RuleOutcome::Clear();
  if (!visible->value.known()) return RuleOutcome::CannotTell({"process.env.CUDA_VISIBLE_DEVICES"});
  const std::string value = visible->value.AsText().value_or("");
  if (!HidesAll(value, context.evidence) || context.analysis.kernels_total > 0) return RuleOutcome::Clear();
  bool confirmed = false;
  for (const FrameworkSeen& seen : FrameworksSeen(context)) {
    if (!seen.in_job) continue;
    if (seen.sees_gpu == true) return RuleOutcome::Clear();
    confirmed = confirmed || seen.sees_gpu == false;
  }
  if (FromText(context.evidence)) {
    const GpuUsed framework = context.ladder.rung(Source::kFramework).gpu_used;
    if (framework == GpuUsed::kYes) return RuleOutcome::Clear();
    confirmed = confirmed || framework == GpuUsed::kNo;
  }
  // The end of a line that was cut looks like an empty value.
  const std::string_view line = Trim(visible->quote);
  if (!confirmed && value.empty() && !line.empty() && line.back() == '=')
    return RuleOutcome::CannotTell({"framework.torch.cuda_available"});
  Finding finding = MakeFinding(kRule_device_hidden_by_env, Severity::kError, confirmed ? kStated : kTwoWitnesses);
  finding.implies = GpuUsed::kNo;
  finding.Param("value", value.empty() ? "\"\"" : value);
  AddItem(finding, visible);
  AddItem(finding, MainFact(context, "framework.torch.cuda_available"));
  AddItem(finding, MainFact(context, "framework.tensorflow.gpu_count"));
  AddItem(finding, Said(context.evidence, "tf_cuinit_failed"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_device_hidden_by_env{.id = "GW301",
                                                       .name = "device-hidden-by-env",
                                                       .since = "0.1",
                                                       .stage = Stage::kVisibility,
                                                       .needs = kNeeds,
                                                       .check = &Check};

}  // namespace gpuwhy::rules
