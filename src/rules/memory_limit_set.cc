// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/out_of_memory.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_memory_limit_set;

namespace {

constexpr std::string_view kNeeds[] = {"log.torch_oom_allowed", "log.code_memory_limit",
                                       "framework.torch.memory.0.limit_bytes"};

// Enough is free and no limit is named: a note that says what does not fit together.
RuleOutcome Contradiction(const OutOfMemory& failure) {
  Finding finding = MakeFinding(kRule_memory_limit_set, Severity::kInfo, kWeak);
  if (!failure.nothing_allocated()) finding.implies = GpuUsed::kYes;
  finding.Param("how", "@limit.contradicts");
  Describe(failure, finding);
  finding.next = "nvidia-smi   # at the moment of the failure";
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (const std::optional<OutOfMemory> failure = FindOutOfMemory(context)) {
    const MemoryCause cause = CauseOf(*failure);
    if (cause == MemoryCause::kContradicts) return Contradiction(*failure);
    if (cause == MemoryCause::kUnknown) return RuleOutcome::CannotTell({"log.torch_oom"});
    if (cause != MemoryCause::kLimit) return RuleOutcome::Clear();
    Finding finding = MakeFinding(kRule_memory_limit_set, Severity::kError, kStated);
    finding.implies = GpuUsed::kYes;
    finding.Param("how", "@limit.sums");
    Describe(*failure, finding);
    return RuleOutcome::Fired(std::move(finding));
  }
  // A refusal without sums beside a setting that holds memory back.
  const Fact* refused = nullptr;
  for (const char* id : {"tf_oom", "jax_oom", "jax_oom_any", "vllm_no_cache_memory", "vllm_kv_cache"}) {
    if (refused == nullptr) refused = Said(context.evidence, id);
  }
  if (refused == nullptr) return RuleOutcome::CannotTell({"log.torch_oom_allowed", "log.tf_oom", "log.jax_oom"});
  const Fact* limit = ProcessMemoryLimit(context);
  if (limit == nullptr || context.ladder.rung(Source::kFramework).gpu_used == GpuUsed::kNo) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_memory_limit_set, Severity::kWarning, kOneWitness);
  finding.implies = GpuUsed::kYes;
  finding.Param("how", "@limit.setting").Param("setting", limit->name.substr(limit->name.rfind('.') + 1));
  AddItem(finding, refused);
  AddItem(finding, limit);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_memory_limit_set{.id = "GW802",
                                                   .name = "memory-limit-set",
                                                   .since = "0.1",
                                                   .stage = Stage::kMemory,
                                                   .needs = kNeeds,
                                                   .check = &Check};

}  // namespace gpuwhy::rules
