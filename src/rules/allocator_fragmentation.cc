// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/out_of_memory.h"

namespace gpuwhy::rules {

extern const Rule kRule_allocator_fragmentation;

namespace {

constexpr std::string_view kNeeds[] = {"log.torch_oom", "log.torch_oom_unallocated", "log.torch_oom_reserved"};

RuleOutcome Check(const RuleContext& context) {
  const std::optional<OutOfMemory> failure = FindOutOfMemory(context);
  // What a live job asked for is not told, and without it nothing says whether the pieces would have been enough.
  if (!failure || !failure->tried || CauseOf(*failure) == MemoryCause::kUnknown)
    return RuleOutcome::CannotTell({"log.torch_oom", "log.torch_oom_unallocated"});
  if (CauseOf(*failure) != MemoryCause::kFragmented) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_allocator_fragmentation, Severity::kError, kTwoWitnesses);
  finding.implies = GpuUsed::kYes;
  finding.Param("how", "@fragmentation.sums");
  Describe(*failure, finding);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_allocator_fragmentation{.id = "GW806",
                                                          .name = "allocator-fragmentation",
                                                          .since = "0.1",
                                                          .stage = Stage::kMemory,
                                                          .needs = kNeeds,
                                                          .check = &Check};

}  // namespace gpuwhy::rules
