// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/lookup.h"
#include "engine/out_of_memory.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_oom_model_too_big;

namespace {

constexpr std::string_view kNeeds[] = {"log.torch_oom", "log.tf_oom", "log.jax_oom", "framework.torch.memory.0.ooms"};

constexpr double kTaken = 0.5;  // less of the card was free when TensorFlow started: others hold it

RuleOutcome Sums(const OutOfMemory& failure) {
  if (CauseOf(failure) == MemoryCause::kUnknown) return RuleOutcome::CannotTell({"log.torch_oom"});
  if (CauseOf(failure) != MemoryCause::kTooBig) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_oom_model_too_big, Severity::kError, kTwoWitnesses);
  if (!failure.nothing_allocated()) finding.implies = GpuUsed::kYes;
  finding.Param("how", failure.tried ? "@toobig.sums" : "@toobig.live");
  Describe(failure, finding);
  finding.frameworks = {"pytorch"};
  return RuleOutcome::Fired(std::move(finding));
}

// Messages that name what was refused and not who holds the rest.
struct Refusal {
  const char* id;
  const char* what;  // capture that names it
  const char* framework;
  bool holds_most = false;  // by default it reserves most of the memory itself when it starts (JAX: three quarters)
};
constexpr Refusal kRefusals[] = {
    {"tf_oom", "shape", "tensorflow"}, {"tf_resource_exhausted", "", "tensorflow"},
    {"jax_oom", "tried", "jax", true}, {"jax_oom_any", "", "jax", true},
    {"mps_oom", "tried", "pytorch"},   {"xpu_oom", "tried", "pytorch"},
    {"ggml_oom", "tried", "any"},      {"cupy_oom", "tried", "any"},
    {"ort_oom", "bytes", "any"},       {"vllm_no_cache_memory", "", "any"},
};

bool OnTheHost(const Evidence& evidence) {
  return Contains(FirstCaptured(evidence, "tf_oom", "device"), "CPU") ||
         FirstCaptured(evidence, "tf_oom", "allocator") == "cpu";
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  if (const std::optional<OutOfMemory> failure = FindOutOfMemory(context)) return Sums(*failure);
  if (!FromText(evidence)) return RuleOutcome::CannotTell({"framework.torch.memory.0.ooms"});
  for (const Refusal& refusal : kRefusals) {
    const Fact* said = Said(evidence, refusal.id);
    if (said == nullptr) continue;
    const bool others = TensorFlowShareOfCard(evidence).value_or(1) < kTaken;
    const bool limited = ProcessMemoryLimit(context) != nullptr;
    if (OnTheHost(evidence) || others || limited || context.ladder.rung(Source::kFramework).gpu_used == GpuUsed::kNo)
      return RuleOutcome::Clear();
    // Who holds the rest is not told. Only where the program is seen to hold memory is it likely to be its own.
    const bool holds = Said(evidence, "tf_bfc_limit") != nullptr || Said(evidence, "tf_bfc_in_use") != nullptr ||
                       Said(evidence, "tf_created_device") != nullptr;
    const bool own = holds || refusal.holds_most;
    Finding finding =
        MakeFinding(kRule_oom_model_too_big, own ? Severity::kWarning : Severity::kInfo, own ? kOneWitness : kWeak);
    finding.implies = GpuUsed::kYes;
    const std::string what = *refusal.what != 0 ? FirstCaptured(evidence, refusal.id, refusal.what) : "";
    finding.Param("how", what.empty() ? "@toobig.refused" : "@toobig.request").Param("tried", what);
    finding.frameworks = {refusal.framework};
    AddItem(finding, said);
    for (const char* id : {"tf_bfc_limit", "tf_bfc_in_use", "tf_created_device"}) AddItem(finding, Said(evidence, id));
    return RuleOutcome::Fired(std::move(finding));
  }
  return RuleOutcome::CannotTell({"log.torch_oom", "log.tf_oom", "log.jax_oom"});
}

}  // namespace

extern constinit const Rule kRule_oom_model_too_big{.id = "GW801",
                                                    .name = "oom-model-too-big",
                                                    .since = "0.1",
                                                    .stage = Stage::kMemory,
                                                    .needs = kNeeds,
                                                    .check = &Check};

}  // namespace gpuwhy::rules
