// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "engine/compare.h"
#include "engine/rule.h"

namespace gpuwhy {
namespace {

struct Bucket {
  const char* name;
  double Breakdown::*share;
};
constexpr Bucket kBuckets[] = {{"gpu_compute", &Breakdown::gpu_compute},
                               {"communication", &Breakdown::communication},
                               {"copy", &Breakdown::copy},
                               {"input_wait", &Breakdown::input_wait},
                               {"sync", &Breakdown::sync},
                               {"launch", &Breakdown::launch},
                               {"checkpoint", &Breakdown::checkpoint},
                               {"other", &Breakdown::other}};

// Mean over the runs of a side of what `of` finds; nothing when it finds nothing in any of them.
template <typename Of>
std::optional<double> Mean(const std::vector<Measured>& side, const Of& of) {
  double sum = 0, count = 0;
  for (const Measured& measured : side) {
    const std::optional<double> value = of(measured);
    sum += value.value_or(0);
    count += value ? 1 : 0;
  }
  return count > 0 ? std::optional<double>(sum / count) : std::nullopt;
}

std::optional<double> Times(std::optional<double> share, std::optional<double> seconds) {
  return share && seconds ? std::optional<double>(*share * *seconds) : std::nullopt;
}

void CompareBuckets(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out) {
  for (const Bucket& bucket : kBuckets) {
    const auto share = [&](const Measured& m) {
      const std::optional<Breakdown>& parts = m.session->report.breakdown;
      return parts ? std::optional<double>((*parts).*bucket.share) : std::nullopt;
    };
    BucketChange change;
    change.name = bucket.name;
    change.share = {Mean(before, share), Mean(after, share)};
    change.seconds = {Times(change.share.before, out.unit_seconds.before),
                      Times(change.share.after, out.unit_seconds.after)};
    if (change.share.before || change.share.after) out.buckets.push_back(std::move(change));
  }
}

void CompareMetrics(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out) {
  std::map<std::string, std::string> units;
  for (const auto* side : {&before, &after}) {
    for (const Measured& measured : *side) {
      for (const auto& [name, metric] : measured.session->report.metrics) units.emplace(name, metric.unit);
    }
  }
  for (const auto& [name, unit] : units) {
    const auto value = [&, &key = name](const Measured& m) -> std::optional<double> {
      const auto found = m.session->report.metrics.find(key);
      return found == m.session->report.metrics.end() ? std::nullopt : found->second.value;
    };
    MetricChange change{name, unit, {Mean(before, value), Mean(after, value)}};
    if (change.value.before || change.value.after) out.metrics.push_back(std::move(change));
  }
}

// "In use" and "cannot tell" are answers, no causes: the runs have them.
bool IsAnswer(const Finding& finding) {
  const auto rules = AllRules();
  return std::any_of(rules.begin(), rules.end(),
                     [&](const Rule* rule) { return rule->id == finding.id && rule->stage == Stage::kVerdict; });
}

// A side has a finding when half of its runs have it; the largest share of time stands for all.
std::map<std::string, Finding> FindingsOf(const std::vector<Measured>& side) {
  std::map<std::string, size_t> count;
  std::map<std::string, Finding> worst;
  for (const Measured& measured : side) {
    std::set<std::string> seen;
    for (const Finding& finding : measured.session->report.findings) {
      if (IsAnswer(finding)) continue;
      if (seen.insert(finding.id).second) ++count[finding.id];
      const auto [at, is_new] = worst.emplace(finding.id, finding);
      if (!is_new && finding.share_of_time.value_or(0) > at->second.share_of_time.value_or(0)) at->second = finding;
    }
  }
  for (const auto& [id, times] : count) {
    if (times * 2 < side.size()) worst.erase(id);
  }
  return worst;
}

double Weight(const FindingChange& change) {
  const auto of = [](const std::optional<Finding>& finding) {
    return finding ? finding->share_of_time.value_or(0) + static_cast<double>(finding->severity) : 0;
  };
  return std::max(of(change.before), of(change.after));
}

void CompareFindings(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out) {
  std::map<std::string, FindingChange> all;
  for (auto& [id, finding] : FindingsOf(before)) all[id].before = finding;
  for (auto& [id, finding] : FindingsOf(after)) all[id].after = finding;
  for (auto& [id, change] : all) out.findings.push_back(std::move(change));
  std::stable_sort(out.findings.begin(), out.findings.end(),
                   [](const FindingChange& a, const FindingChange& b) { return Weight(a) > Weight(b); });
}

}  // namespace

// The bucket whose time changed most in the direction of the whole, when it holds at least half of that change.
void NameMainBucket(Comparison& out) {
  const bool judged = out.result == CompareResult::kFaster || out.result == CompareResult::kSlower;
  if (!judged || !out.unit_seconds.before || !out.unit_seconds.after) return;
  const double whole = *out.unit_seconds.after - *out.unit_seconds.before;
  double most = 0.5;
  for (const BucketChange& bucket : out.buckets) {
    if (!bucket.seconds.before || !bucket.seconds.after) continue;
    const double part = (*bucket.seconds.after - *bucket.seconds.before) / whole;
    if (part < most) continue;
    most = part;
    out.mainly = bucket.name;
  }
}

void CompareReports(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out) {
  CompareBuckets(before, after, out);
  CompareMetrics(before, after, out);
  CompareFindings(before, after, out);
  NameMainBucket(out);
}

}  // namespace gpuwhy
