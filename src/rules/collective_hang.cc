// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "base/format.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_collective_hang;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.utilization.ratio", "gpu.power.watts", "gpu.power.limit.watts",
                                       "log.nccl_timeout"};

constexpr double kSpins = 0.95;  // a kernel that waits counts as work
constexpr double kCool = 0.35;   // of the power limit: waiting takes little more than idling
constexpr double kStands = 0.05;
constexpr double kSimilar = 0.25;  // of the memory that the waiting ones hold: a rank, not a mere context
constexpr double kHeld = 200e6;
constexpr size_t kLiveReadings = 10;  // a pause between two steps is shorter

constexpr double kLikeIdle = 2;  // times the power of the one that stands still
constexpr double kNoTraffic = 0.015;

struct Rank {
  Entity gpu;
  double duty = 0, power = 0, limit = 0, memory = 0, traffic = 0;  // traffic: share of time of the memory, -1 unknown
};

double Mean(const Evidence& evidence, const char* name, const Entity& gpu) {
  return MeanOf(evidence.Samples(name, gpu), -1e18, 1e18).value_or(-1);
}

// GPUs that the job holds (live) or that a text shows, as far as their readings tell enough.
std::vector<Rank> Ranks(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const bool text = FromText(evidence);
  std::vector<Rank> ranks;
  for (const Entity& gpu : evidence.EntitiesWith("gpu.utilization.ratio")) {
    if (!text && evidence.Samples("gpu.utilization.ratio", gpu).size() < kLiveReadings) continue;
    const bool ours =
        std::any_of(context.analysis.processes.begin(), context.analysis.processes.end(), [&](int64_t pid) {
          return !evidence.Samples("process.gpu.memory.bytes", Entity::ProcessOnGpu(pid, gpu.id)).empty();
        });
    if (!text && !ours) continue;
    const Fact* limit = evidence.Find("gpu.power.limit.watts", gpu);
    Rank rank{gpu,
              Mean(evidence, "gpu.utilization.ratio", gpu),
              Mean(evidence, "gpu.power.watts", gpu),
              limit != nullptr ? limit->value.AsDouble().value_or(0) : 0,
              Mean(evidence, "gpu.memory.used.bytes", gpu),
              Mean(evidence, "gpu.memory_utilization.ratio", gpu)};
    if (rank.duty >= 0 && rank.power > 0 && (rank.limit > 0 || rank.traffic >= 0)) ranks.push_back(rank);
  }
  return ranks;
}

// NCCL's watchdog says that a collective did not end: the ranks were at work until then.
std::optional<Finding> Timeout(const Evidence& evidence) {
  const Fact* said = Said(evidence, "nccl_timeout");
  if (said == nullptr) return std::nullopt;
  Finding finding = MakeFinding(kRule_collective_hang, Severity::kError, kStated);
  finding.implies = GpuUsed::kPartly;
  const std::string operation = FirstCaptured(evidence, "nccl_timeout", "operation");
  finding.Param("how", operation.empty() ? "@hang.timeout_any" : "@hang.timeout").Param("operation", operation);
  AddItem(finding, said);
  return finding;
}

// dmon prints no limit: there a kernel that spins betrays itself by memory that nobody reads.
bool Waits(const Rank& rank, double idle_power) {
  if (rank.duty < kSpins || rank.memory < kHeld) return false;
  if (rank.limit > 0) return rank.power <= kCool * rank.limit;
  return rank.traffic <= kNoTraffic && rank.power <= kLikeIdle * idle_power;
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  if (const std::optional<Finding> finding = Timeout(evidence)) return RuleOutcome::Fired(*finding);
  const std::vector<Rank> ranks = Ranks(context);
  if (ranks.size() < 3)
    return RuleOutcome::CannotTell({"gpu.utilization.ratio", "gpu.power.watts", "gpu.power.limit.watts"});
  std::vector<Rank> waiting, standing;
  double idle_power = 0;
  for (const Rank& rank : ranks) {
    if (rank.duty <= kStands) idle_power = std::max(idle_power, rank.power);
  }
  for (const Rank& rank : ranks) {
    if (Waits(rank, idle_power)) waiting.push_back(rank);
  }
  for (const Rank& rank : ranks) {
    const bool holds = !waiting.empty() && rank.memory >= std::max(kHeld, kSimilar * waiting.front().memory);
    if (holds && rank.duty <= kStands) standing.push_back(rank);
  }
  // One GPU that is busy at low power can be a small model; several beside one that holds as much and does nothing wait
  // for it.
  if (waiting.size() < 2 || standing.empty()) return RuleOutcome::Clear();
  const auto cooler = [](const Rank& a, const Rank& b) { return a.power < b.power; };
  const auto [low, high] = std::minmax_element(waiting.begin(), waiting.end(), cooler);
  Finding finding = MakeFinding(kRule_collective_hang, Severity::kError, kOneWitness);
  finding.implies = GpuUsed::kPartly;
  finding.Param("how", low->limit > 0 ? "@hang.readings" : "@hang.traffic")
      .Param("waiting", std::to_string(waiting.size()));
  finding.Param("low", Format("{:.0f}", low->power)).Param("high", Format("{:.0f}", high->power));
  finding.Param("limit", Format("{:.0f}", low->limit)).Param("standing", std::to_string(standing.size()));
  for (const Rank& rank : ranks) AddItem(finding, evidence.Find("gpu.utilization.ratio", rank.gpu));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_collective_hang{
    .id = "GW905", .name = "collective-hang", .since = "0.1", .stage = Stage::kCode, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
