// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_pcie_link_degraded;

namespace {

constexpr std::string_view kNeeds[] = {"gpu.pcie.generation.current", "gpu.pcie.generation.max",
                                       "gpu.pcie.width.current", "gpu.pcie.width.max"};

constexpr double kLoad = 0.3;   // an idle GPU lowers its link to save power
constexpr double kNote = 0.51;  // half the lanes are how many boards are wired
constexpr double kPoor = 0.26;  // a quarter: a slot, a riser or a contact

// Rate of a lane relative to generation 1 (PCI Express base specification: 2.5, 5, 8, 16, 32, 64 GT/s, coding
// included).
double LaneRate(int64_t generation) {
  constexpr double kRates[] = {1, 2, 3.94, 7.88, 15.75, 30.25};
  return kRates[std::clamp<int64_t>(generation, 1, 6) - 1];
}

struct Link {
  const Fact *generation = nullptr, *generation_max = nullptr, *width = nullptr, *width_max = nullptr;
};

int64_t Number(const Fact* fact) { return fact != nullptr ? fact->value.AsInt().value_or(0) : 0; }

// Share of the link's possible rate; nothing when it is not known. A live session reads the generation once, when the
// GPU may still be idle, so that only the lanes count there.
std::optional<double> Share(const Link& link, bool text) {
  double share = 1;
  bool known = false;
  if (Number(link.width) > 0 && Number(link.width_max) > 0) {
    share *= static_cast<double>(Number(link.width)) / static_cast<double>(Number(link.width_max));
    known = true;
  }
  if (text && Number(link.generation) > 0 && Number(link.generation_max) > 0) {
    share *= LaneRate(Number(link.generation)) / LaneRate(Number(link.generation_max));
    known = true;
  }
  return known ? std::optional<double>(share) : std::nullopt;
}

std::string Show(const Fact* generation, const Fact* width) {
  const std::string lanes = width != nullptr ? Format("x{}", Number(width)) : "x?";
  return generation != nullptr ? Format("{} {}", Number(generation), lanes) : lanes;
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const bool text = FromText(evidence);
  bool known = false;
  for (const Entity& gpu : evidence.EntitiesWith("gpu.utilization.ratio")) {
    if (!text && gpu.id != context.analysis.gpu) continue;
    const Link link{evidence.Find("gpu.pcie.generation.current", gpu), evidence.Find("gpu.pcie.generation.max", gpu),
                    evidence.Find("gpu.pcie.width.current", gpu), evidence.Find("gpu.pcie.width.max", gpu)};
    const std::optional<double> share = Share(link, text);
    const Series& duty = evidence.Samples("gpu.utilization.ratio", gpu);
    if (!share) continue;
    known = true;
    if (*share > kNote || MeanOf(duty, -1e18, 1e18).value_or(0) < kLoad) continue;
    const bool poor = text && *share <= kPoor;
    Finding finding =
        MakeFinding(kRule_pcie_link_degraded, poor ? Severity::kWarning : Severity::kInfo, poor ? kOneWitness : kWeak);
    finding.Param("now", Show(text ? link.generation : nullptr, link.width));
    finding.Param("possible", Show(text ? link.generation_max : nullptr, link.width_max));
    finding.Param("part", ShowPercent(*share));
    for (const Fact* fact : {link.generation, link.generation_max, link.width, link.width_max}) AddLine(finding, fact);
    return RuleOutcome::Fired(std::move(finding));
  }
  return known ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"gpu.pcie.width.current", "gpu.utilization.ratio"});
}

}  // namespace

extern constinit const Rule kRule_pcie_link_degraded{.id = "GW903",
                                                     .name = "pcie-link-degraded",
                                                     .since = "0.1",
                                                     .stage = Stage::kSpeed,
                                                     .needs = kNeeds,
                                                     .check = &Check};

}  // namespace gpuwhy::rules
