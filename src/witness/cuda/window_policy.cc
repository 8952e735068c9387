// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/cuda/window_policy.h"

#include <algorithm>
#include <utility>

namespace gpuwhy::cuda {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kMemoryNs = 10'000'000'000;
// The first steps compile, load libraries and fill caches: they say nothing of the pace.
constexpr uint64_t kUnsteadySteps = 5;
// Below, one step more or less changes the pace by more than the loss that is looked for.
constexpr uint64_t kFewestSteps = 8;

// A library that still waits for a CUDA call to leave by takes a new order all the same: in a job that makes no call at
// all, the empty window is the evidence.
bool Ready(wire::State state) {
  return state == wire::State::kIdle || state == wire::State::kDetached || state == wire::State::kDetaching;
}

bool Warm(const ProcessView& view) {
  const uint64_t steps = view.steps.value_or(0);
  const int64_t wait = steps > 0 ? WindowPolicy::kLongestWarmUpNs : WindowPolicy::kWarmUpNs;
  return steps >= WindowPolicy::kWarmUpSteps || view.now_ns >= view.first_work_ns + wait;
}

}  // namespace

void WindowPolicy::Remember(const ProcessView& view) {
  if (!view.steps || *view.steps <= kUnsteadySteps) return;
  outside_.push_back({view.now_ns, *view.steps});
  while (outside_.front().now_ns < view.now_ns - kMemoryNs) outside_.pop_front();
}

std::optional<double> WindowPolicy::StepNs() const {
  if (outside_.empty() || outside_.back().steps < outside_.front().steps + kFewestSteps) return std::nullopt;
  const double span = static_cast<double>(outside_.back().now_ns - outside_.front().now_ns);
  return span / static_cast<double>(outside_.back().steps - outside_.front().steps);
}

// Job time lost since the window was taken, by the steps that are missing; nothing where steps cannot tell.
std::optional<int64_t> WindowPolicy::LostBySteps(const ProcessView& view) const {
  const int64_t elapsed = view.now_ns - open_ns_;
  if (!step_ns_ || !view.steps || *view.steps < open_steps_ || elapsed < 0) return std::nullopt;
  if (static_cast<double>(elapsed) < *step_ns_ * static_cast<double>(kFewestSteps)) return std::nullopt;
  // One step may be half done at either border: it counts as done.
  const double done = static_cast<double>(*view.steps - open_steps_ + 1) * *step_ns_;
  return std::clamp<int64_t>(elapsed - static_cast<int64_t>(done), 0, elapsed);
}

void WindowPolicy::CountCost(int64_t lost_ns, WindowBudget& budget) {
  lost_ns_ += lost_ns;
  last_pair_ns_ += lost_ns;
  budget.spent_ns += lost_ns;
}

std::optional<WindowOrder> WindowPolicy::End(std::string why) {
  phase_ = Phase::kOver;
  why_over_ = std::move(why);
  return std::nullopt;
}

std::optional<WindowOrder> WindowPolicy::Begin(Phase phase, const ProcessView& view, WindowBudget& budget) {
  const bool timing = phase == Phase::kTiming;
  phase_ = phase;
  sent_seq_ = 0;
  open_ns_ = 0;
  ended_before_ = timing ? view.ended_timing : view.ended_sync;
  // The second window of a pair follows at once: there is no pace but the one before the first.
  if (timing) step_ns_ = StepNs();
  if (timing) last_pair_ns_ = 0;
  budget.next_start_ns = view.now_ns + WindowBudget::kStaggerNs;
  uint32_t length = timing ? kTimingMs : kSyncMs;
  if (timing && step_ns_) {
    const double steps_ms = *step_ns_ * static_cast<double>(kWindowSteps) / static_cast<double>(kMillisecond);
    if (steps_ms < length) length = std::max(kShortestMs, static_cast<uint32_t>(steps_ms));
  }
  return WindowOrder{timing ? wire::Command::kTimingWindow : wire::Command::kSyncWindow, length};
}

// While an order is on its way or its window is open.
std::optional<WindowOrder> WindowPolicy::Watch(const ProcessView& view, WindowBudget& budget) {
  const bool timing = phase_ == Phase::kTiming;
  if (open_ns_ == 0) {
    // In a Python process the library's thread starts with the first step; until then the order waits, and costs
    // nothing.
    if (sent_seq_ == 0 || view.ack_seq != sent_seq_) return std::nullopt;
    open_ns_ = view.now_ns;
    open_steps_ = view.steps.value_or(0);
  }
  if ((timing ? view.ended_timing : view.ended_sync) > ended_before_) {
    CountCost(LostBySteps(view).value_or(std::max<int64_t>(view.library_cost_ns, 0)), budget);
    outside_.clear();
    rest_until_ns_ = view.now_ns + kRestNs;
    if (budget.left_ns() < WindowBudget::kReserveNs) return End("the windows of this run have cost what they may");
    if (timing) return Begin(Phase::kSync, view, budget);
    phase_ = Phase::kRest;
    return std::nullopt;
  }
  if (view.now_ns > open_ns_ + kPatienceNs) return End("a window was ordered and its end never came");
  const bool open = view.state == wire::State::kTiming || view.state == wire::State::kSync;
  const int64_t lost = LostBySteps(view).value_or(0);
  if (open && lost > budget.left_ns()) {
    CountCost(lost, budget);
    End("a window cost more than windows may cost in a run and was closed early");
    return WindowOrder{wire::Command::kClose, 0};
  }
  return std::nullopt;
}

std::optional<WindowOrder> WindowPolicy::Next(const ProcessView& view, WindowBudget& budget) {
  if (phase_ == Phase::kOver) return std::nullopt;
  const bool in_window = phase_ == Phase::kTiming || phase_ == Phase::kSync;
  const bool gone = view.user_profiler || view.state == wire::State::kSteppedAside ||
                    view.state == wire::State::kFailed || view.state == wire::State::kLeaseLost ||
                    view.state == wire::State::kPermanent;
  if (gone) {
    if (in_window && open_ns_ != 0) CountCost(LostBySteps(view).value_or(0), budget);
    return End(view.user_profiler ? "the job's own profiler was started" : "");
  }
  if (in_window) return Watch(view, budget);
  Remember(view);
  if (!Ready(view.state) || view.first_work_ns == 0 || view.now_ns < budget.next_start_ns) return std::nullopt;
  if (phase_ == Phase::kWarmUp) {
    if (!Warm(view)) return std::nullopt;
  } else if (view.now_ns < rest_until_ns_) {
    return std::nullopt;
  }
  // What the last pair of windows cost, the next one will cost again.
  if (budget.left_ns() < std::max(WindowBudget::kReserveNs, last_pair_ns_)) {
    return End(phase_ == Phase::kWarmUp ? "the windows of other processes have cost what a run may lose" : "");
  }
  return Begin(Phase::kTiming, view, budget);
}

}  // namespace gpuwhy::cuda
