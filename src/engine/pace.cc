// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/pace.h"

#include <algorithm>

#include "engine/steady.h"

namespace gpuwhy {
namespace {

constexpr size_t kMostCells = 400;  // finer cells tell no more and make the bootstrap slow

// A moment of a process with its running totals.
struct Moment {
  double time_s = 0, steps = 0, samples = 0;
};

std::vector<Moment> FromMarks(const Evidence& evidence, int64_t pid) {
  std::vector<Moment> out;
  for (const StepMark& mark : evidence.steps()) {
    if (mark.pid != pid) continue;
    out.push_back(
        {static_cast<double>(mark.time_ns) * 1e-9, static_cast<double>(mark.index), static_cast<double>(mark.items)});
  }
  return out;
}

// Batches of Keras are as large as model.fit was told: its marks hold no samples, but the facts hold the size.
std::vector<Moment> FromTotals(const Evidence& evidence, int64_t pid) {
  const Fact* batch = evidence.Find("framework.keras.batch_size", Entity::Process(pid));
  const double size = batch != nullptr ? batch->value.AsDouble().value_or(0) : 0;
  std::vector<Moment> out;
  for (const Point& point : evidence.Samples("process.steps.count", Entity::Process(pid)))
    out.push_back({point.time_s, point.value, point.value * size});
  return out;
}

// Only what moves on in time and steps: a damaged session holds anything, and a counter that stands still adds its time
// to the next stretch.
std::vector<Moment> Steady(std::vector<Moment> all) {
  std::stable_sort(all.begin(), all.end(), [](const Moment& a, const Moment& b) { return a.steps < b.steps; });
  std::vector<Moment> out;
  if (all.empty() || !(all.back().steps < 9e15)) return out;
  const auto warm_up = static_cast<double>(WarmUpSteps(static_cast<uint64_t>(std::max(0.0, all.back().steps))));
  for (const Moment& moment : all) {
    if (moment.steps < warm_up) continue;
    const bool moves = out.empty() || (moment.time_s > out.back().time_s && moment.steps > out.back().steps &&
                                       moment.samples >= out.back().samples);
    if (moves) out.push_back(moment);
  }
  return out;
}

// Steps of the stretch in which a typical step lies: marks are close at the start and in windows, else one a second.
double TypicalSteps(const std::vector<Moment>& moments) {
  std::vector<double> sizes;
  double total = 0, passed = 0;
  for (size_t i = 1; i < moments.size(); ++i) sizes.push_back(moments[i].steps - moments[i - 1].steps);
  for (const double size : sizes) total += size;
  std::sort(sizes.begin(), sizes.end());
  for (const double size : sizes) {
    passed += size;
    if (passed * 2 >= total) return std::max(size, total / static_cast<double>(kMostCells));
  }
  return total;
}

// Cells of about equal work. A rest that is too short for one joins the last.
void Cut(const std::vector<Moment>& moments, Pace& pace) {
  const double size = TypicalSteps(moments);
  const bool samples = pace.samples.has_value();
  Moment from = moments.front();
  const auto add = [&](const Moment& to) {
    pace.by_step.push_back({to.time_s - from.time_s, to.steps - from.steps});
    if (samples) pace.by_sample.push_back({to.time_s - from.time_s, to.samples - from.samples});
    from = to;
  };
  for (const Moment& moment : moments) {
    const bool whole = moment.steps - from.steps >= size;
    const bool rest_is_short = moments.back().steps - moment.steps < size && moment.steps < moments.back().steps;
    if (whole && !rest_is_short) add(moment);
  }
  if (from.steps < moments.back().steps) add(moments.back());
}

std::optional<Pace> From(std::vector<Moment> all, Pace::Seen seen) {
  const std::vector<Moment> moments = Steady(std::move(all));
  if (moments.size() < 3) return std::nullopt;
  const Moment &first = moments.front(), &last = moments.back();
  Pace pace;
  pace.seen = seen;
  pace.seconds = last.time_s - first.time_s;
  pace.steps = last.steps - first.steps;
  if (last.samples > first.samples) pace.samples = last.samples - first.samples;
  Cut(moments, pace);
  return pace;
}

}  // namespace

std::optional<Pace> FindPace(const Evidence& evidence, const Analysis& analysis) {
  std::optional<Pace> pace = From(FromMarks(evidence, analysis.main_pid), Pace::Seen::kMarks);
  if (!pace) pace = From(FromTotals(evidence, analysis.main_pid), Pace::Seen::kTotals);
  return pace ? pace : FindKernelPace(evidence, analysis.main_pid);
}

}  // namespace gpuwhy
