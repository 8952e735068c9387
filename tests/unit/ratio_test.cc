// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>

namespace gpuwhy {
namespace {

constexpr int kPairs = 200;
constexpr double kTruth = 1.3;

using Random = std::mt19937_64;

double Normal(Random& random) { return std::normal_distribution<double>()(random); }

// Steps of a run of a given speed. Each kind has a mean step of 1 / speed.
WorkRun Independent(Random& random, size_t steps, double speed) {
  WorkRun run;
  for (size_t i = 0; i < steps; ++i) run.push_back({std::exp(0.2 * Normal(random) - 0.02) / speed, 1});
  return run;
}

// Each step is like the one before it: clocks, other users of the machine.
WorkRun Sluggish(Random& random, size_t steps, double speed) {
  WorkRun run;
  double state = Normal(random);
  for (size_t i = 0; i < steps; ++i) {
    state = 0.6 * state + 0.8 * Normal(random);
    run.push_back({std::exp(0.2 * state - 0.02) / speed, 1});
  }
  return run;
}

// A pause of five steps now and then: checkpoints, a new epoch.
WorkRun Pausing(Random& random, size_t steps, double speed) {
  WorkRun run;
  for (size_t i = 0; i < steps; ++i) {
    const double pause = random() % 25 == 0 ? 5 : 0;
    run.push_back({(std::exp(0.1 * Normal(random) - 0.005) + pause) / 1.2 / speed, 1});
  }
  return run;
}

// Sixteen loader workers: one long wait, then fifteen short ones.
WorkRun Bursty(Random& random, size_t steps, double speed) {
  WorkRun run;
  const size_t phase = random() % 16;
  for (size_t i = 0; i < steps; ++i) {
    const double wait = (i + phase) % 16 == 0 ? 8.5 : 0.5;
    run.push_back({wait * std::exp(0.1 * Normal(random) - 0.005) / speed, 1});
  }
  return run;
}

using Kind = WorkRun (*)(Random&, size_t, double);

int Covered(Kind kind, size_t steps) {
  int covered = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    Random random(static_cast<uint64_t>(pair) + 1000);
    const WorkRun before = kind(random, steps, 1), after = kind(random, steps, kTruth);
    const std::optional<RatioEstimate> estimate = EstimateRatio({before}, {after});
    if (estimate && estimate->bounds && estimate->bounds->low <= kTruth && kTruth <= estimate->bounds->high) ++covered;
  }
  return covered;
}

TEST(Ratio, IsThatOfTheThroughputs) {
  const WorkRun slow(20, {0.2, 1}), fast(40, {0.05, 1});
  const std::optional<RatioEstimate> estimate = EstimateRatio({slow}, {fast});
  ASSERT_TRUE(estimate && estimate->bounds);
  EXPECT_NEAR(estimate->value, 4, 1e-12);
  EXPECT_NEAR(estimate->bounds->low, 4, 1e-9);  // no noise, no width
  EXPECT_NEAR(estimate->bounds->high, 4, 1e-9);
  EXPECT_FALSE(estimate->between_runs);
  EXPECT_NEAR(EstimateRatio({fast}, {slow})->value, 0.25, 1e-12);
}

TEST(Ratio, CountsWorkNotStretches) {
  // The same speed in stretches of one step and of fifty.
  const WorkRun fine(100, {0.1, 1}), coarse(6, {5, 50});
  EXPECT_NEAR(EstimateRatio({fine}, {coarse})->value, 1, 1e-12);
}

TEST(Ratio, OfARunWithItselfHoldsOne) {
  Random random(7);
  const WorkRun run = Sluggish(random, 80, 1);
  const std::optional<RatioEstimate> estimate = EstimateRatio({run}, {run});
  EXPECT_NEAR(estimate->value, 1, 1e-12);
  EXPECT_LT(estimate->bounds->low, 1);
  EXPECT_GT(estimate->bounds->high, 1);
}

TEST(Ratio, IsTheSameEveryTime) {
  Random random(8);
  const WorkRun a = Pausing(random, 60, 1), b = Pausing(random, 60, 2);
  const std::optional<RatioEstimate> first = EstimateRatio({a}, {b}), second = EstimateRatio({a}, {b});
  EXPECT_EQ(first->bounds->low, second->bounds->low);
  EXPECT_EQ(first->bounds->high, second->bounds->high);
}

TEST(Ratio, HasNoIntervalFromTooFewStretches) {
  const WorkRun few(kFewestCells - 1, {0.1, 1}), many(50, {0.1, 1});
  const std::optional<RatioEstimate> estimate = EstimateRatio({few}, {many});
  ASSERT_TRUE(estimate);
  EXPECT_NEAR(estimate->value, 1, 1e-12);
  EXPECT_FALSE(estimate->bounds);
}

TEST(Ratio, OfNothingIsNothing) {
  const WorkRun run(10, {0.1, 1}), no_time(10, {0, 1}), no_work(10, {0.1, 0});
  EXPECT_FALSE(EstimateRatio({}, {run}));
  EXPECT_FALSE(EstimateRatio({run}, {WorkRun{}}));
  EXPECT_FALSE(EstimateRatio({no_time}, {run}));
  EXPECT_FALSE(EstimateRatio({run}, {no_work}));
}

// 95 % is asked for; 200 pairs of a true 90 % would stay below 180 in half of all cases.
TEST(RatioCoverage, IndependentSteps) { EXPECT_GE(Covered(&Independent, 60), 180); }
TEST(RatioCoverage, AShortRun) { EXPECT_GE(Covered(&Independent, 8), 180); }
TEST(RatioCoverage, StepsThatFollowEachOther) { EXPECT_GE(Covered(&Sluggish, 120), 180); }
TEST(RatioCoverage, Pauses) { EXPECT_GE(Covered(&Pausing, 200), 180); }
TEST(RatioCoverage, Bursts) { EXPECT_GE(Covered(&Bursty, 160), 180); }

TEST(RatioCoverage, IntervalsAreNoWiderThanNeeded) {
  Random random(11);
  const std::optional<RatioEstimate> estimate =
      EstimateRatio({Independent(random, 200, 1)}, {Independent(random, 200, kTruth)});
  // Spread 0.2 a step, 200 steps a side: 2 * 1.96 * 0.2 * sqrt(2 / 200) = 0.078 in the logarithm.
  const double width = std::log(estimate->bounds->high / estimate->bounds->low);
  EXPECT_GT(width, 0.05);
  EXPECT_LT(width, 0.12);
}

// Processes that drift by a tenth, which no interval from inside one of them can know.
TEST(RatioCoverage, SeveralRunsHoldTheDriftBetweenProcesses) {
  int within = 0, between = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    Random random(static_cast<uint64_t>(pair) + 5000);
    std::vector<WorkRun> before, after;
    for (int run = 0; run < 3; ++run) {
      before.push_back(Independent(random, 40, std::exp(0.1 * Normal(random))));
      after.push_back(Independent(random, 40, kTruth * std::exp(0.1 * Normal(random))));
    }
    const auto holds = [](const std::optional<RatioEstimate>& estimate) {
      return estimate->bounds->low <= kTruth && kTruth <= estimate->bounds->high;
    };
    within += holds(EstimateRatio({before[0]}, {after[0]})) ? 1 : 0;
    const std::optional<RatioEstimate> all = EstimateRatio(before, after);
    EXPECT_TRUE(all->between_runs);
    between += holds(all) ? 1 : 0;
  }
  EXPECT_GE(between, 180);
  EXPECT_LT(within, 150);
}

TEST(Ratio, TwoAgainstOneAnswersWithCare) {
  const WorkRun a(20, {0.1, 1}), b(20, {0.11, 1}), c(20, {0.05, 1});
  const std::optional<RatioEstimate> estimate = EstimateRatio({a, b}, {c});
  EXPECT_TRUE(estimate->between_runs);
  EXPECT_LT(estimate->bounds->low, 1.5);  // one degree of freedom: very wide
  EXPECT_GT(estimate->bounds->high, 2.5);
}

TEST(StudentT, MatchesTheTables) {
  EXPECT_NEAR(StudentT95(1), 12.706, 1e-3);
  EXPECT_NEAR(StudentT95(4), 2.776, 1e-3);
  EXPECT_NEAR(StudentT95(4.9), 2.776, 1e-3);
  EXPECT_NEAR(StudentT95(6), 2.447, 4e-3);
  EXPECT_NEAR(StudentT95(10), 2.228, 4e-3);
  EXPECT_NEAR(StudentT95(30), 2.042, 1e-3);
  EXPECT_NEAR(StudentT95(1e6), 1.960, 1e-3);
}

TEST(BlockLength, GrowsWithCorrelation) {
  Random random(3);
  const size_t independent = BlockLength(Independent(random, 400, 1));
  WorkRun slow;
  double state = 0;
  for (int i = 0; i < 400; ++i) {
    state = 0.95 * state + 0.3 * Normal(random);
    slow.push_back({std::exp(0.2 * state), 1});
  }
  EXPECT_EQ(independent, 10U);  // half a root
  EXPECT_GT(BlockLength(slow), 2 * independent);
  EXPECT_LE(BlockLength(slow), 100U);
  EXPECT_EQ(BlockLength(WorkRun(400, {0.1, 1})), 10U);
  EXPECT_EQ(BlockLength(WorkRun(5, {0.1, 1})), 1U);
}

}  // namespace
}  // namespace gpuwhy
