// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/pace.h"

#include <gtest/gtest.h>

namespace gpuwhy {
namespace {

constexpr int64_t kPid = 42;
constexpr int64_t kMs = 1'000'000;

void AddMark(Evidence& evidence, int64_t time_ns, uint64_t index, uint64_t items = 0) {
  evidence.Add(StepMark{kPid, time_ns, index, 0, 0, items, 0});
}

std::optional<Pace> PaceOf(const Evidence& evidence) { return FindPace(evidence, Analyse(evidence)); }

double Sum(const WorkRun& run, double WorkCell::*field) {
  double sum = 0;
  for (const WorkCell& cell : run) sum += cell.*field;
  return sum;
}

// 200 steps of 10 ms, the first 20 of 1 s: warm-up.
TEST(Pace, LeavesWarmUpOut) {
  Evidence evidence;
  int64_t time = 0;
  for (uint64_t step = 1; step <= 200; ++step) {
    time += step <= 20 ? 1000 * kMs : 10 * kMs;
    AddMark(evidence, time, step, step * 32);
  }
  const std::optional<Pace> pace = PaceOf(evidence);
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->seen, Pace::Seen::kMarks);
  EXPECT_NEAR(pace->steps, 180, 1e-9);
  EXPECT_NEAR(pace->seconds, 1.8, 1e-9);
  ASSERT_TRUE(pace->samples);
  EXPECT_NEAR(*pace->samples, 180 * 32, 1e-9);
  EXPECT_EQ(pace->by_step.size(), 180U);
  EXPECT_EQ(pace->by_sample.size(), 180U);
}

// As the agent thins: every step at first, then the last of each second.
TEST(Pace, CutsThinnedMarksIntoEqualWork) {
  Evidence evidence;
  for (uint64_t step = 1; step <= 200; ++step) AddMark(evidence, static_cast<int64_t>(step) * 5 * kMs, step);
  for (uint64_t second = 1; second <= 20; ++second)
    AddMark(evidence, static_cast<int64_t>(200 + second * 200) * 5 * kMs, 200 + second * 200);
  const std::optional<Pace> pace = PaceOf(evidence);
  ASSERT_TRUE(pace);
  EXPECT_FALSE(pace->samples);
  EXPECT_TRUE(pace->by_sample.empty());
  EXPECT_NEAR(Sum(pace->by_step, &WorkCell::work), pace->steps, 1e-9);
  EXPECT_NEAR(Sum(pace->by_step, &WorkCell::seconds), pace->seconds, 1e-9);
  EXPECT_EQ(pace->by_step.size(), 20U);
  for (const WorkCell& cell : pace->by_step) {
    EXPECT_GE(cell.work, 200);
    EXPECT_LE(cell.work, 400);
  }
}

TEST(Pace, KeepsTheNumberOfCellsBounded) {
  Evidence evidence;
  for (uint64_t step = 1; step <= 5000; ++step) AddMark(evidence, static_cast<int64_t>(step) * kMs, step);
  const std::optional<Pace> pace = PaceOf(evidence);
  ASSERT_TRUE(pace);
  EXPECT_LE(pace->by_step.size(), 400U);
  EXPECT_GE(pace->by_step.size(), 300U);
}

// Marks that run backwards in time (a damaged file, an exec) never give negative cells.
TEST(Pace, SkipsMarksThatRunBackwards) {
  Evidence evidence;
  for (uint64_t step = 1; step <= 50; ++step)
    AddMark(evidence, step == 30 ? 5 * kMs : static_cast<int64_t>(step) * 10 * kMs, step, step == 40 ? 0 : step * 8);
  const std::optional<Pace> pace = PaceOf(evidence);
  ASSERT_TRUE(pace);
  for (const WorkCell& cell : pace->by_step) {
    EXPECT_GT(cell.seconds, 0);
    EXPECT_GT(cell.work, 0);
  }
  EXPECT_NEAR(Sum(pace->by_step, &WorkCell::seconds), 0.45, 1e-9);
  EXPECT_NEAR(Sum(pace->by_step, &WorkCell::work), 45, 1e-9);
}

TEST(Pace, TakesTotalsWhereNoStepIsTold) {
  Evidence evidence;
  evidence.AddFact("framework.keras.batch_size", Entity::Process(kPid), Value::Of(int64_t{64}), Source::kFramework);
  for (int second = 0; second <= 30; ++second)
    evidence.Add(Sample{"process.steps.count", Entity::Process(kPid), 1.0 * second, 25.0 * second});
  const std::optional<Pace> pace = PaceOf(evidence);
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->seen, Pace::Seen::kTotals);
  EXPECT_NEAR(pace->steps / pace->seconds, 25, 1e-9);
  ASSERT_TRUE(pace->samples);
  EXPECT_NEAR(*pace->samples / pace->steps, 64, 1e-9);
}

TEST(Pace, OfAJobWithoutStepsIsUnknown) {
  Evidence evidence;
  AddMark(evidence, 10 * kMs, 1);
  AddMark(evidence, 20 * kMs, 2);
  EXPECT_FALSE(PaceOf(evidence));
  EXPECT_FALSE(PaceOf(Evidence{}));
}

// A window of 1 s with `turns` repetitions of three kernels, the first sizes being (64, 128, 64) blocks.
Evidence Kernels(int turns, uint32_t blocks, int skip = 0, int odd_one = -1) {
  Evidence evidence;
  Span window{SpanKind::kWindow, kPid, 0, 1000 * kMs};
  window.detail[0] = 2;
  evidence.Add(window);
  const uint32_t names[] = {evidence.Intern("gemm"), evidence.Intern("relu"), evidence.Intern("update")};
  for (int i = skip; i < turns * 3; ++i) {
    Span span{
        SpanKind::kKernel, kPid, int64_t{i} * 2 * kMs, kMs, 0, 7, names[i % 3], 0, {blocks << (i % 3 == 1), 256, 0}};
    if (i == odd_one) span.name = evidence.Intern("autotune");
    evidence.Add(span);
  }
  return evidence;
}

TEST(KernelPace, FindsTheSequenceThatRepeats) {
  const std::optional<Pace> pace = FindKernelPace(Kernels(100, 64), kPid);
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->seen, Pace::Seen::kKernels);
  EXPECT_NEAR(pace->steps / pace->seconds, 1000.0 / 6, 1e-6);
  EXPECT_EQ(pace->by_step.size(), 99U);
}

TEST(KernelPace, DoesNotDependOnWhenTheWindowOpened) {
  const std::optional<Pace> whole = FindKernelPace(Kernels(100, 64), kPid);
  const std::optional<Pace> later = FindKernelPace(Kernels(100, 64, 2), kPid);
  ASSERT_TRUE(whole && later);
  EXPECT_EQ(whole->sequence, later->sequence);
  const std::optional<Pace> larger = FindKernelPace(Kernels(100, 128), kPid);
  ASSERT_TRUE(larger);
  EXPECT_NE(whole->sequence, larger->sequence);  // another batch size is other work
}

TEST(KernelPace, ForgivesOneOddKernelAndNoMore) {
  EXPECT_TRUE(FindKernelPace(Kernels(100, 64, 0, 150), kPid));
  EXPECT_FALSE(FindKernelPace(Kernels(7, 64), kPid));  // too few repetitions
  Evidence chaos;
  Span window{SpanKind::kWindow, kPid, 0, 1000 * kMs};
  window.detail[0] = 2;
  chaos.Add(window);
  for (uint32_t i = 0; i < 300; ++i)
    chaos.Add(Span{SpanKind::kKernel, kPid, int64_t{i} * 3 * kMs, kMs, 0, 7, 0, 0, {i * i % 97, 256, 0}});
  EXPECT_FALSE(FindKernelPace(chaos, kPid));
}

}  // namespace
}  // namespace gpuwhy
