// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/compare.h"

#include <algorithm>
#include <cmath>

namespace gpuwhy {
namespace {

std::vector<Measured> Measure(const std::vector<SessionSide>& sessions) {
  std::vector<Measured> out;
  for (const SessionSide& session : sessions) {
    Measured measured;
    measured.session = &session;
    measured.analysis = Analyse(session.evidence);
    measured.pace = FindPace(session.evidence, measured.analysis);
    out.push_back(std::move(measured));
  }
  return out;
}

template <typename Predicate>
bool All(const std::vector<Measured>& before, const std::vector<Measured>& after, const Predicate& holds) {
  return std::all_of(before.begin(), before.end(), holds) && std::all_of(after.begin(), after.end(), holds);
}

bool Counted(const Measured& measured) { return measured.pace->seen != Pace::Seen::kKernels; }

double BatchOf(const Pace& pace) { return *pace.samples / pace.steps; }

// What one unit of work is, so that it is the same on both sides; `unknown_why` when nothing is.
std::optional<std::string> ChooseUnit(const std::vector<Measured>& before, const std::vector<Measured>& after,
                                      Comparison& out) {
  const auto paced = [](const Measured& m) { return m.pace.has_value(); };
  const bool left = std::all_of(before.begin(), before.end(), paced),
             right = std::all_of(after.begin(), after.end(), paced);
  if (!left || !right) {
    out.unknown_why = Note{left ? "no_pace_b" : right ? "no_pace_a" : "no_pace", {}};
    return std::nullopt;
  }
  if (!All(before, after, Counted)) {
    const std::string& sequence = before.front().pace->sequence;
    const bool same = All(before, after, [&](const Measured& m) { return m.pace->sequence == sequence; });
    if (same) return "kernel-sequence";
    out.unknown_why = Note{"other_work", {}};
    return std::nullopt;
  }
  double least = 1e300, most = 0;
  const bool samples = All(before, after, [&](const Measured& m) {
    if (!m.pace->samples) return false;
    least = std::min(least, BatchOf(*m.pace));
    most = std::max(most, BatchOf(*m.pace));
    return true;
  });
  return samples && most > least * 1.001 ? "sample" : "step";
}

CompareResult Judged(const RatioEstimate& estimate) {
  if (!estimate.bounds) return CompareResult::kUnknown;
  const bool faster = estimate.bounds->low > 1, slower = estimate.bounds->high < 1;
  const bool beyond_drift = std::fabs(std::log(estimate.value)) > std::log(1 + kProcessDrift);
  if ((!faster && !slower) || (!estimate.between_runs && !beyond_drift)) return CompareResult::kNoDifference;
  return faster ? CompareResult::kFaster : CompareResult::kSlower;
}

std::optional<double> UnitSeconds(const std::vector<ComparedRun>& runs) {
  double sum = 0;
  for (const ComparedRun& run : runs) {
    if (!run.rate || *run.rate <= 0) return std::nullopt;
    sum += std::log(*run.rate);
  }
  return std::exp(-sum / static_cast<double>(runs.size()));
}

std::vector<ComparedRun> Runs(const std::vector<Measured>& side, const std::string& unit) {
  std::vector<ComparedRun> out;
  for (const Measured& measured : side) {
    ComparedRun run;
    run.name = measured.session->name;
    run.started = measured.session->started;
    run.gpu_used = measured.session->report.verdict.gpu_used;
    run.cause = measured.session->report.verdict.cause;
    if (measured.pace) {
      run.seconds = measured.pace->seconds;
      if (measured.pace->seen != Pace::Seen::kKernels) run.steps = measured.pace->steps;
    }
    if (measured.pace && !unit.empty())
      run.rate = (unit == "sample" ? *measured.pace->samples : measured.pace->steps) / measured.pace->seconds;
    out.push_back(std::move(run));
  }
  return out;
}

}  // namespace

void CompareSpeed(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out) {
  const std::optional<std::string> unit = ChooseUnit(before, after, out);
  out.before = Runs(before, unit.value_or(""));
  out.after = Runs(after, unit.value_or(""));
  if (!unit) {
    out.next = "gpuwhy run -- CMD";
    return;
  }
  const auto work = [&](const std::vector<Measured>& side) {
    std::vector<WorkRun> runs;
    runs.reserve(side.size());
    for (const Measured& m : side) runs.push_back(*unit == "sample" ? m.pace->by_sample : m.pace->by_step);
    return runs;
  };
  const std::optional<RatioEstimate> estimate = EstimateRatio(work(before), work(after));
  if (!estimate) {
    out.unknown_why = Note{"no_pace", {}};
    return;
  }
  out.unit_seconds = {UnitSeconds(out.before), UnitSeconds(out.after)};
  out.ratio = SpeedRatio{estimate->value, std::nullopt, std::nullopt, estimate->between_runs, *unit};
  out.result = Judged(*estimate);
  if (estimate->bounds) {
    out.ratio->low = estimate->bounds->low;
    out.ratio->high = estimate->bounds->high;
  } else {
    out.unknown_why = Note{"short", {}};
    out.next = "gpuwhy run -- CMD";
  }
  if (out.result == CompareResult::kNoDifference) out.next = "gpuwhy compare A1 A2 A3 -- B1 B2 B3";
}

Comparison Compare(const std::vector<SessionSide>& before, const std::vector<SessionSide>& after) {
  const std::vector<Measured> left = Measure(before), right = Measure(after);
  Comparison out;
  CompareSpeed(left, right, out);
  CompareReports(left, right, out);
  CompareSettings(left, right, out);
  AddCaveats(left, right, out);
  return out;
}

}  // namespace gpuwhy
