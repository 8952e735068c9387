// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_memory_headroom;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.memory.0.max_allocated_bytes",
                                       "framework.torch.device.0.total_bytes"};

constexpr double kNearlyFull = 0.92;  // profiling facts 2.6: pressure from 0.92
constexpr double kRoom = 0.5;         // Gao et al., ICSE 2024: low use goes with at most half of the memory
constexpr double kBusy = 0.70;        // AWS: below, a GPU is under-used (profiling facts 2.5)

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (context.ladder.gpu_used != GpuUsed::kYes) return RuleOutcome::Clear();
  const Fact* peak = MainFact(context, "framework.torch.memory.0.max_allocated_bytes");
  const Fact* total = MainFact(context, "framework.torch.device.0.total_bytes");
  if (peak == nullptr || total == nullptr || !peak->value.AsDouble() || total->value.AsDouble().value_or(0) <= 0)
    return RuleOutcome::CannotTell({"framework.torch.memory.0.max_allocated_bytes"});
  const double ratio = *peak->value.AsDouble() / *total->value.AsDouble();
  if (ratio <= 0 || ratio > 1.05) return RuleOutcome::CannotTell({"framework.torch.memory.0.max_allocated_bytes"});
  const bool full = ratio >= kNearlyFull;
  // Room is worth a word only where the GPU has time left and the launches, not the input, are what it waits for.
  const bool room = ratio <= kRoom && analysis.breakdown && analysis.breakdown->gpu_compute < kBusy &&
                    analysis.breakdown->launch >= kShareWarning;
  if (!full && !room) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_memory_headroom, Severity::kInfo, full ? kStated : kOneWitness);
  finding.Param("how", full ? "@headroom.full" : "@headroom.free").Param("peak", ShowPercent(ratio));
  AddItem(finding, Item("memory.peak.ratio", ratio, Source::kFramework));
  AddItem(finding, peak);
  AddItem(finding, total);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_memory_headroom{
    .id = "GW808", .name = "memory-headroom", .since = "0.2", .stage = Stage::kNote, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
