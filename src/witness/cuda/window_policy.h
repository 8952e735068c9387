// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_CUDA_WINDOW_POLICY_H_
#define GPUWHY_WITNESS_CUDA_WINDOW_POLICY_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "wire/wire.gen.h"

namespace gpuwhy::cuda {

// What windows may cost, shared by all processes of a run: the ranks of one job wait for each other, so the time that
// one loses is lost by all, and the losses add up.
struct WindowBudget {
  static constexpr int64_t kTotalNs = 500'000'000;      // of job time in a run (contract)
  static constexpr int64_t kReserveNs = 50'000'000;     // with less left no window begins: about one attach and detach
  static constexpr int64_t kStaggerNs = 1'500'000'000;  // between the starts of windows of two processes

  int64_t spent_ns = 0;
  int64_t next_start_ns = 0;  // CLOCK_MONOTONIC

  int64_t left_ns() const { return kTotalNs - spent_ns; }
};

// What the policy sees of a process at one moment.
struct ProcessView {
  int64_t now_ns = 0;
  wire::State state = wire::State::kIdle;
  uint32_t ack_seq = 0;
  std::optional<uint64_t> steps;              // nothing when no Python agent counts them
  int64_t first_work_ns = 0;                  // when the first kernel, copy or memset was seen, 0 = none yet
  bool user_profiler = false;                 // the job's own profiler was started at some time
  uint64_t ended_timing = 0, ended_sync = 0;  // windows whose end was read
  int64_t library_cost_ns = 0;                // of the window that ended last, by the library's own clock
};

struct WindowOrder {
  wire::Command command = wire::Command::kNone;
  uint32_t milliseconds = 0;
};

// When to open which window in one process (docs/witnesses/rings.md). The proof window is the library's own business.
// Then one timing window after 20 steps, or 10 s after the first GPU work where nobody counts steps (a first step may
// tune cudnn for ten seconds: where steps are counted the window waits for them, a minute at most), a synchronisation
// window behind it, and the same again at the earliest 10 minutes later while the budget lasts. Pure: time and state
// come in, orders go out.
class WindowPolicy {
 public:
  static constexpr uint64_t kWarmUpSteps = 20;
  static constexpr int64_t kWarmUpNs = 10'000'000'000;
  static constexpr int64_t kLongestWarmUpNs = 60'000'000'000;
  static constexpr uint64_t kWindowSteps = 64;
  static constexpr uint32_t kTimingMs = 1000, kSyncMs = 300, kShortestMs = 50;
  static constexpr int64_t kRestNs = 600'000'000'000;
  static constexpr int64_t kPatienceNs = 10'000'000'000;  // from the order's acknowledgement to the end record

  // An order to send, or nothing. The caller tells by Sent() under which number it went out.
  std::optional<WindowOrder> Next(const ProcessView& view, WindowBudget& budget);
  void Sent(uint32_t seq) { sent_seq_ = seq; }
  bool over() const { return phase_ == Phase::kOver; }
  // Why windows ended for this process; empty when they came to their plain end or are still to come.
  const std::string& why_over() const { return why_over_; }
  // Job time lost in this process' windows so far.
  int64_t lost_ns() const { return lost_ns_; }

 private:
  enum class Phase { kWarmUp, kTiming, kSync, kRest, kOver };
  struct Reading {
    int64_t now_ns;
    uint64_t steps;
  };

  std::optional<WindowOrder> Begin(Phase phase, const ProcessView& view, WindowBudget& budget);
  std::optional<WindowOrder> Watch(const ProcessView& view, WindowBudget& budget);
  void CountCost(int64_t lost_ns, WindowBudget& budget);
  void Remember(const ProcessView& view);
  std::optional<double> StepNs() const;  // outside windows
  std::optional<int64_t> LostBySteps(const ProcessView& view) const;
  std::optional<WindowOrder> End(std::string why);

  Phase phase_ = Phase::kWarmUp;
  std::string why_over_;
  std::deque<Reading> outside_;  // one a poll while no window is open, 10 s at most
  uint32_t sent_seq_ = 0;
  uint64_t ended_before_ = 0;
  int64_t open_ns_ = 0;  // when the order was taken, 0 = not yet
  uint64_t open_steps_ = 0;
  std::optional<double> step_ns_;
  int64_t lost_ns_ = 0;
  int64_t last_pair_ns_ = 0;  // cost of the last timing window and what followed it
  int64_t rest_until_ns_ = 0;
};

}  // namespace gpuwhy::cuda

#endif  // GPUWHY_WITNESS_CUDA_WINDOW_POLICY_H_
