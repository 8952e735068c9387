// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "base/text.h"
#include "engine/lookup.h"
#include "engine/out_of_memory.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_memory_held_by_other_process;

namespace {

constexpr std::string_view kNeeds[] = {"log.torch_oom", "log.vllm_free_memory", "gpu.memory.used.bytes",
                                       "framework.torch.memory.0.ooms"};

constexpr double kGibibyte = 1073741824;
constexpr double kFull = 0.9;       // of the memory of the GPU
constexpr double kHoldsMost = 0.5;  // by one process
constexpr double kTaken = 0.5;      // of the card: TensorFlow reserves nearly all that is free when it starts

RuleOutcome Sums(const OutOfMemory& failure) {
  if (CauseOf(failure) == MemoryCause::kUnknown) return RuleOutcome::CannotTell({"log.torch_oom"});
  if (CauseOf(failure) != MemoryCause::kForeign) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_memory_held_by_other_process, Severity::kError, kTwoWitnesses);
  finding.implies = failure.nothing_allocated() ? GpuUsed::kNo : GpuUsed::kYes;
  finding.Param("how", failure.others.empty() ? "@held.sums" : "@held.named").Param("others", failure.others);
  Describe(failure, finding);
  return RuleOutcome::Fired(std::move(finding));
}

// vLLM compares what is free with the share it wants before it loads anything: what is missing, others hold.
std::optional<Finding> AtStart(const Evidence& evidence) {
  const Fact* said = Said(evidence, "vllm_free_memory");
  if (said == nullptr) return std::nullopt;
  const std::string pair = FirstCaptured(evidence, "vllm_free_memory", "free");  // "3.20/79.11"
  const size_t slash = pair.find('/');
  const std::optional<double> free = ParseDouble(pair.substr(0, slash));
  const std::optional<double> total =
      slash == std::string::npos ? std::nullopt : ParseDouble(std::string_view(pair).substr(slash + 1));
  if (!free || !total) return std::nullopt;
  Finding finding = MakeFinding(kRule_memory_held_by_other_process, Severity::kError, kTwoWitnesses);
  finding.implies = GpuUsed::kNo;
  finding.Param("how", "@held.start").Param("free", Format("{} GiB", *free)).Param("total", Format("{} GiB", *total));
  finding.Param("foreign", ShowBytes((*total - *free) * kGibibyte));
  finding.Param("wanted", FirstCaptured(evidence, "vllm_free_memory", "wanted"));
  AddItem(finding, said);
  return finding;
}

// The process that nvidia-smi lists with most of a full GPU.
const Fact* Holder(const Evidence& evidence) {
  for (const Fact* held : evidence.All("process.gpu.memory.bytes")) {
    const Entity gpu = Entity::Gpu(held->entity.gpu());
    const Fact *total = evidence.Find("gpu.memory.total.bytes", gpu),
               *used = evidence.Find("gpu.memory.used.bytes", gpu);
    if (total == nullptr || used == nullptr || total->value.AsDouble().value_or(0) <= 0) continue;
    const double size = *total->value.AsDouble();
    if (used->value.AsDouble().value_or(0) >= kFull * size && held->value.AsDouble().value_or(0) >= kHoldsMost * size)
      return held;
  }
  return nullptr;
}

// An error without figures beside a table of nvidia-smi. A job that failed holds nothing any more, so that whoever is
// listed is another one; TensorFlow's own line is also printed by jobs that try again and live on.
std::optional<Finding> ByTable(const Evidence& evidence) {
  const Fact* said = Said(evidence, "cuda_oom");
  const Fact* holder = said != nullptr ? Holder(evidence) : nullptr;
  if (holder == nullptr) return std::nullopt;
  const bool ended = Contains(said->quote, "CUDA error: out of memory") || Contains(said->quote, "cuda runtime error");
  Finding finding = MakeFinding(kRule_memory_held_by_other_process, ended ? Severity::kWarning : Severity::kInfo,
                                ended ? kOneWitness : kWeak);
  if (ended) finding.implies = GpuUsed::kNo;
  finding.Param("how", "@held.table").Param("foreign", ShowBytes(holder->value.AsDouble().value_or(0)));
  finding.Param("others", std::to_string(holder->entity.pid()));
  AddItem(finding, said);
  AddItem(finding, holder);
  return finding;
}

// TensorFlow's allocator was given less than half of the card when it started: the rest was not free.
std::optional<Finding> LittleLeft(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* said = Said(evidence, "tf_oom");
  const std::optional<double> share = said != nullptr ? TensorFlowShareOfCard(evidence) : std::nullopt;
  if (!share || *share >= kTaken || ProcessMemoryLimit(context) != nullptr) return std::nullopt;
  Finding finding = MakeFinding(kRule_memory_held_by_other_process, Severity::kWarning, kOneWitness);
  finding.implies = GpuUsed::kYes;
  finding.Param("how", "@held.tensorflow").Param("part", ShowPercent(*share));
  AddItem(finding, said);
  AddItem(finding, Said(evidence, "tf_created_device"));
  return finding;
}

RuleOutcome Check(const RuleContext& context) {
  if (const std::optional<OutOfMemory> failure = FindOutOfMemory(context)) return Sums(*failure);
  for (const std::optional<Finding>& finding :
       {AtStart(context.evidence), LittleLeft(context), ByTable(context.evidence)}) {
    if (finding) return RuleOutcome::Fired(*finding);
  }
  if (Said(context.evidence, "tf_oom") != nullptr) return RuleOutcome::Clear();
  const bool live = MainFact(context, "framework.torch.memory.0.ooms") != nullptr;
  return live ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"log.torch_oom"});
}

}  // namespace

extern constinit const Rule kRule_memory_held_by_other_process{.id = "GW803",
                                                               .name = "memory-held-by-other-process",
                                                               .since = "0.1",
                                                               .stage = Stage::kMemory,
                                                               .needs = kNeeds,
                                                               .check = &Check};

}  // namespace gpuwhy::rules
