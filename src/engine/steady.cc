// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/steady.h"

#include <algorithm>

#include "engine/analysis.h"

namespace gpuwhy {
namespace {

double ToSeconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

uint64_t WarmUpSteps(uint64_t total) { return total < 8 ? 1 : std::clamp<uint64_t>(total / 10, 3, 20); }

std::optional<SteadyState> FindSteadyState(const Evidence& evidence, int64_t pid) {
  std::vector<StepMark> marks;
  for (const StepMark& mark : evidence.steps()) {
    if (mark.pid == pid) marks.push_back(mark);
  }
  std::sort(marks.begin(), marks.end(), [](const StepMark& a, const StepMark& b) { return a.index < b.index; });
  if (marks.size() < 2) return std::nullopt;
  const uint64_t warm_up = WarmUpSteps(marks.back().index);
  const auto first =
      std::find_if(marks.begin(), marks.end(), [&](const StepMark& mark) { return mark.index >= warm_up; });
  if (first == marks.end() || first->index >= marks.back().index) return std::nullopt;
  const StepMark& last = marks.back();
  SteadyState steady;
  steady.pid = pid;
  steady.start_s = static_cast<double>(first->time_ns) * 1e-9;
  steady.end_s = static_cast<double>(last.time_ns) * 1e-9;
  steady.steps = last.index - first->index;
  // Totals only grow; a process that was replaced by exec starts again and then has no exact difference.
  if (last.wait_ns < first->wait_ns || last.save_ns < first->save_ns || last.time_ns <= first->time_ns)
    return std::nullopt;
  steady.wait_s = ToSeconds(last.wait_ns - first->wait_ns);
  steady.save_s = ToSeconds(last.save_ns - first->save_ns);
  steady.items = last.items - std::min(last.items, first->items);
  for (auto it = first + 1; it != marks.end(); ++it) steady.hook_s += ToSeconds(it->hook_ns);
  return steady;
}

}  // namespace gpuwhy
