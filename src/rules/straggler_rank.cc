// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_straggler_rank;

namespace {

constexpr std::string_view kNeeds[] = {"window.seconds"};

// What a rank waits for another in collectives: from a tenth of the step on it is worth a word (profiling facts 2.6).
struct Rank {
  int64_t pid = 0;
  double waits = 0;  // share of its window in collectives that nothing covers
};

std::vector<Rank> Ranks(const RuleContext& context) {
  std::vector<Rank> ranks;
  for (const int64_t pid : context.analysis.kernel_processes) {
    const std::optional<WindowView> view = ViewWindows(context.evidence, pid);
    if (!view || view->seconds <= 0) continue;
    const double communication = view->in_wait.communication + view->in_save.communication +
                                 view->in_other.communication + view->rest.communication;
    ranks.push_back({pid, communication / view->seconds});
  }
  std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) { return a.waits < b.waits; });
  return ranks;
}

std::string NameOf(const RuleContext& context, int64_t pid) {
  for (const char* variable : {"process.env.RANK", "process.env.LOCAL_RANK"}) {
    const Fact* fact = context.evidence.Find(variable, Entity::Process(pid));
    if (fact != nullptr && fact->value.AsText()) return Format("{} (PID {})", *fact->value.AsText(), pid);
  }
  return Format("PID {}", pid);
}

RuleOutcome Check(const RuleContext& context) {
  const std::vector<Rank> ranks = Ranks(context);
  const bool collective = !ranks.empty() && ranks.back().waits > 0;
  if (ranks.size() < 2) {
    // One process that talks to others on machines that are not seen from here.
    return collective ? RuleOutcome::CannotTell({"windows of the other ranks"}) : RuleOutcome::Clear();
  }
  if (!collective) return RuleOutcome::Clear();
  const Rank& late = ranks.front();
  const double others = ranks[ranks.size() / 2].waits;  // the middle one: a single odd rank decides nothing
  const double share = others - late.waits;
  if (share < kShareWarning) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_straggler_rank, share, kTwoWitnesses);
  finding.explains = {"exposed-communication"};
  finding.Param("rank", NameOf(context, late.pid)).Param("ranks", std::to_string(ranks.size()));
  finding.Param("late", ShowPercent(late.waits)).Param("others", ShowPercent(others));
  for (const Rank* rank : {&ranks.front(), &ranks.back()}) {
    EvidenceItem item = Item("rank.communication.ratio", rank->waits, Source::kCuda);
    item.where = NameOf(context, rank->pid);
    AddItem(finding, item);
  }
  AddItem(finding, context.evidence.Find("framework.torch.loader.1.workers", Entity::Process(late.pid)));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_straggler_rank{
    .id = "GW907", .name = "straggler-rank", .since = "0.2", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
