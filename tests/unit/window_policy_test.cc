// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/cuda/window_policy.h"

#include <gtest/gtest.h>

namespace gpuwhy::cuda {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kFirstWork = 100 * kSecond;

// One process whose clock, steps and library the test turns by hand.
class Process {
 public:
  explicit Process(WindowBudget& budget, std::optional<uint64_t> steps = std::nullopt) : budget_(budget) {
    view.now_ns = kFirstWork;
    view.first_work_ns = kFirstWork;
    view.state = wire::State::kDetached;
    view.steps = steps;
  }
  // One poll; an order goes out under the next number, as a ring does it.
  std::optional<WindowOrder> Poll() {
    const std::optional<WindowOrder> order = policy.Next(view, budget_);
    if (order) policy.Sent(++seq_);
    return order;
  }
  std::optional<WindowOrder> PollAt(int64_t after_ns) {
    view.now_ns = kFirstWork + after_ns;
    return Poll();
  }
  void Take(wire::State state) {
    view.ack_seq = seq_;
    view.state = state;
  }
  // Steps of `step_ns` until `count` are done, with a poll after each; the order that came on the way.
  std::optional<WindowOrder> StepUntil(uint64_t count, int64_t step_ns) {
    while (*view.steps < count) {
      ++*view.steps;
      view.now_ns += step_ns;
      if (const std::optional<WindowOrder> order = Poll()) return order;
    }
    return std::nullopt;
  }
  // A window that is taken, open for its length without a lost step, and ended.
  std::optional<WindowOrder> RunWindow(bool timing, int64_t length_ns, int64_t cost_ns) {
    Take(timing ? wire::State::kTiming : wire::State::kSync);
    EXPECT_FALSE(Poll());
    view.now_ns += length_ns;
    ++(timing ? view.ended_timing : view.ended_sync);
    view.library_cost_ns = cost_ns;
    view.state = wire::State::kDetached;
    return Poll();
  }

  ProcessView view;
  WindowPolicy policy;

 private:
  WindowBudget& budget_;
  uint32_t seq_ = 0;
};

TEST(WindowPolicy, WithoutStepsTheWindowOpensTenSecondsAfterTheFirstWork) {
  WindowBudget budget;
  Process process(budget);
  EXPECT_FALSE(process.PollAt(0));
  EXPECT_FALSE(process.PollAt(10 * kSecond - 1));
  const std::optional<WindowOrder> order = process.PollAt(10 * kSecond);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->command, wire::Command::kTimingWindow);
  EXPECT_EQ(order->milliseconds, WindowPolicy::kTimingMs);
}

// An agent that counts no step (a loop without an optimizer) must not keep the window away for a minute.
TEST(WindowPolicy, AnAgentThatCountsNoStepWaitsTenSeconds) {
  WindowBudget budget;
  Process process(budget, 0);
  EXPECT_FALSE(process.PollAt(10 * kSecond - 1));
  EXPECT_TRUE(process.PollAt(10 * kSecond));
}

TEST(WindowPolicy, NothingOpensBeforeTheFirstWork) {
  WindowBudget budget;
  Process process(budget, 1000);
  process.view.first_work_ns = 0;
  EXPECT_FALSE(process.PollAt(3600 * kSecond));
  EXPECT_FALSE(process.policy.over());
}

TEST(WindowPolicy, TheTwentiethStepOpensTheWindow) {
  WindowBudget budget;
  Process process(budget, 0);
  EXPECT_FALSE(process.StepUntil(19, 10 * kMs));
  const std::optional<WindowOrder> order = process.StepUntil(20, 10 * kMs);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->command, wire::Command::kTimingWindow);
  EXPECT_EQ(order->milliseconds, 640U) << "64 steps of 10 ms";
}

TEST(WindowPolicy, AWindowIsNeverShorterThanTheShortest) {
  WindowBudget budget;
  Process process(budget, 0);
  const std::optional<WindowOrder> order = process.StepUntil(20, kMs / 10);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->milliseconds, WindowPolicy::kShortestMs);
}

TEST(WindowPolicy, SlowStepsAreWaitedForAMinuteAtMost) {
  WindowBudget budget;
  Process process(budget, 1);
  EXPECT_FALSE(process.PollAt(10 * kSecond));
  process.view.steps = 19;
  EXPECT_FALSE(process.PollAt(60 * kSecond - 1));
  EXPECT_TRUE(process.PollAt(60 * kSecond));
}

TEST(WindowPolicy, AnyStateFromWhichALibraryTakesOrdersWillDo) {
  for (const wire::State state : {wire::State::kIdle, wire::State::kDetached, wire::State::kDetaching}) {
    WindowBudget budget;
    Process process(budget);
    process.view.state = state;
    EXPECT_TRUE(process.PollAt(10 * kSecond)) << static_cast<int>(state);
  }
  WindowBudget budget;
  Process proof(budget);
  proof.view.state = wire::State::kProof;
  EXPECT_FALSE(proof.PollAt(20 * kSecond));
  proof.view.state = wire::State::kDetaching;
  EXPECT_TRUE(proof.PollAt(21 * kSecond));
}

TEST(WindowPolicy, ALibraryThatIsGoneGetsNoOrder) {
  for (const wire::State state :
       {wire::State::kSteppedAside, wire::State::kFailed, wire::State::kLeaseLost, wire::State::kPermanent}) {
    WindowBudget budget;
    Process process(budget);
    process.view.state = state;
    EXPECT_FALSE(process.PollAt(20 * kSecond));
    EXPECT_TRUE(process.policy.over());
    EXPECT_EQ(process.policy.why_over(), "");
  }
}

TEST(WindowPolicy, ThePairIsRepeatedAfterTenMinutesOnly) {
  WindowBudget budget;
  Process process(budget);
  ASSERT_TRUE(process.PollAt(10 * kSecond));
  const std::optional<WindowOrder> sync = process.RunWindow(true, kSecond, 20 * kMs);
  ASSERT_TRUE(sync);
  EXPECT_EQ(sync->command, wire::Command::kSyncWindow);
  EXPECT_EQ(sync->milliseconds, WindowPolicy::kSyncMs);
  EXPECT_FALSE(process.RunWindow(false, 300 * kMs, 30 * kMs));
  EXPECT_EQ(budget.spent_ns, 50 * kMs);
  EXPECT_EQ(process.policy.lost_ns(), 50 * kMs);
  process.view.now_ns += WindowPolicy::kRestNs - 1;
  EXPECT_FALSE(process.Poll());
  process.view.now_ns += 1;
  const std::optional<WindowOrder> again = process.Poll();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->command, wire::Command::kTimingWindow);
}

TEST(WindowPolicy, WindowsEndWithTheBudget) {
  WindowBudget budget;
  Process process(budget);
  ASSERT_TRUE(process.PollAt(10 * kSecond));
  EXPECT_FALSE(process.RunWindow(true, kSecond, 460 * kMs)) << "40 ms are left, a sync window is not worth them";
  EXPECT_TRUE(process.policy.over());
  EXPECT_NE(process.policy.why_over(), "");
  process.view.now_ns += 2 * WindowPolicy::kRestNs;
  EXPECT_FALSE(process.Poll());
  EXPECT_EQ(budget.spent_ns, 460 * kMs);
}

TEST(WindowPolicy, APairThatWouldCostMoreThanIsLeftIsNotRepeated) {
  WindowBudget budget;
  Process process(budget);
  ASSERT_TRUE(process.PollAt(10 * kSecond));
  ASSERT_TRUE(process.RunWindow(true, kSecond, 200 * kMs));
  EXPECT_FALSE(process.RunWindow(false, 300 * kMs, 100 * kMs));
  process.view.now_ns += WindowPolicy::kRestNs;
  EXPECT_FALSE(process.Poll()) << "200 ms are left, the last pair cost 300";
  EXPECT_TRUE(process.policy.over());
}

// However often windows come, whatever the library says of their cost: no run loses more than the contract allows, by
// more than the window that was open when the line was crossed.
TEST(WindowPolicy, ALongRunStaysInTheBudget) {
  WindowBudget budget;
  Process process(budget);
  int windows = 0;
  for (int64_t at = 10; at < 100'000; at += 5) {
    if (!process.PollAt(at * kSecond)) continue;
    ++windows;
    std::optional<WindowOrder> order = process.RunWindow(true, kSecond, 60 * kMs);
    if (order) process.RunWindow(false, 300 * kMs, 20 * kMs);
  }
  EXPECT_EQ(windows, 6);
  EXPECT_LE(budget.spent_ns, WindowBudget::kTotalNs);
}

TEST(WindowPolicy, MissingStepsAreTheCostAndCloseTheWindow) {
  WindowBudget budget;
  Process process(budget, 0);
  ASSERT_TRUE(process.StepUntil(20, 10 * kMs));
  process.Take(wire::State::kTiming);
  EXPECT_FALSE(process.Poll());
  process.view.now_ns += 400 * kMs;  // not one step in the time of forty
  EXPECT_FALSE(process.Poll());
  process.view.now_ns += 200 * kMs;
  const std::optional<WindowOrder> order = process.Poll();
  ASSERT_TRUE(order);
  EXPECT_EQ(order->command, wire::Command::kClose);
  EXPECT_TRUE(process.policy.over());
  EXPECT_NEAR(static_cast<double>(process.policy.lost_ns()), 590e6, 1e6) << "600 ms, of which one step";
}

TEST(WindowPolicy, FullPaceCostsNothingWhateverTheLibraryCounted) {
  WindowBudget budget;
  Process process(budget, 0);
  ASSERT_TRUE(process.StepUntil(20, 10 * kMs));
  process.Take(wire::State::kTiming);
  EXPECT_FALSE(process.Poll());
  process.view.now_ns += 640 * kMs;
  *process.view.steps += 64;
  process.view.ended_timing = 1;
  process.view.library_cost_ns = 100 * kMs;  // threads that waited for the GPU anyway
  process.view.state = wire::State::kDetached;
  ASSERT_TRUE(process.Poll());
  EXPECT_EQ(budget.spent_ns, 0);
}

TEST(WindowPolicy, TheJobsOwnProfilerEndsAllWindows) {
  WindowBudget budget;
  Process before(budget);
  before.view.user_profiler = true;
  EXPECT_FALSE(before.PollAt(20 * kSecond));
  EXPECT_EQ(before.policy.why_over(), "the job's own profiler was started");
  before.view.user_profiler = false;  // it stopped: CUPTI is left alone all the same
  EXPECT_FALSE(before.PollAt(7200 * kSecond));

  WindowBudget other;
  Process during(other, 0);
  ASSERT_TRUE(during.StepUntil(20, 10 * kMs));
  during.Take(wire::State::kTiming);
  EXPECT_FALSE(during.Poll());
  during.view.now_ns += 200 * kMs;
  during.view.user_profiler = true;
  during.view.state = wire::State::kDetaching;
  EXPECT_FALSE(during.Poll());
  EXPECT_TRUE(during.policy.over());
  EXPECT_NEAR(static_cast<double>(other.spent_ns), 190e6, 1e6) << "what was lost until then counts";
}

TEST(WindowPolicy, TwoProcessesNeverStartTogether) {
  WindowBudget budget;
  Process first(budget);
  Process second(budget);
  ASSERT_TRUE(first.PollAt(10 * kSecond));
  EXPECT_FALSE(second.PollAt(10 * kSecond));
  EXPECT_FALSE(second.PollAt(10 * kSecond + WindowBudget::kStaggerNs - 1));
  EXPECT_TRUE(second.PollAt(10 * kSecond + WindowBudget::kStaggerNs));
}

TEST(WindowPolicy, ProcessesShareOneBudget) {
  WindowBudget budget;
  Process first(budget);
  Process second(budget);
  ASSERT_TRUE(first.PollAt(10 * kSecond));
  EXPECT_FALSE(first.RunWindow(true, kSecond, 470 * kMs));
  EXPECT_FALSE(second.PollAt(20 * kSecond));
  EXPECT_TRUE(second.policy.over());
  EXPECT_EQ(second.policy.why_over(), "the windows of other processes have cost what a run may lose");
}

TEST(WindowPolicy, AnOrderThatNobodyTakesWaitsAndCostsNothing) {
  WindowBudget budget;
  Process process(budget);
  ASSERT_TRUE(process.PollAt(10 * kSecond));
  EXPECT_FALSE(process.PollAt(1000 * kSecond));
  EXPECT_FALSE(process.policy.over());
  EXPECT_EQ(budget.spent_ns, 0);
}

TEST(WindowPolicy, AWindowWhoseEndNeverComesIsGivenUp) {
  WindowBudget budget;
  Process process(budget);
  ASSERT_TRUE(process.PollAt(10 * kSecond));
  process.Take(wire::State::kTiming);
  EXPECT_FALSE(process.PollAt(11 * kSecond));
  EXPECT_FALSE(process.PollAt(11 * kSecond + WindowPolicy::kPatienceNs));
  EXPECT_FALSE(process.policy.over());
  EXPECT_FALSE(process.PollAt(11 * kSecond + WindowPolicy::kPatienceNs + 1));
  EXPECT_TRUE(process.policy.over());
  EXPECT_EQ(process.policy.why_over(), "a window was ordered and its end never came");
}

}  // namespace
}  // namespace gpuwhy::cuda
