// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "engine/analysis.h"
#include "engine/intervals.h"

namespace gpuwhy {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kPid = 7;
constexpr uint32_t kTiming = 2, kSync = 3, kPageable = 1, kPinned = 2, kDevice = 3;

// Hand-made spans of one process; times in milliseconds.
class Timeline {
 public:
  Timeline& Window(uint32_t mode, int64_t start, int64_t length) {
    Span span = Make(SpanKind::kWindow, start, length);
    span.detail[0] = mode;
    return Put(span);
  }
  Timeline& Kernel(int64_t start, int64_t length, const char* name = "gemm", int32_t device = 0) {
    Span span = Make(SpanKind::kKernel, start, length);
    span.device = device;
    span.name = evidence.Intern(name);
    return Put(span);
  }
  Timeline& Copy(int64_t start, int64_t length, uint64_t bytes, uint32_t from, uint32_t to, int32_t device = 0) {
    Span span = Make(SpanKind::kCopy, start, length);
    span.device = device;
    span.bytes = bytes;
    span.detail[1] = from;
    span.detail[2] = to;
    return Put(span);
  }
  Timeline& Call(SpanKind kind, int64_t start, int64_t length, uint32_t thread = 1) {
    Span span = Make(kind, start, length);
    span.lane = thread;
    return Put(span);
  }
  Timeline& Host(SpanKind kind, int64_t start, int64_t length) { return Put(Make(kind, start, length)); }
  Timeline& Step(uint64_t index, int64_t at, int64_t waited = 0, int64_t saved = 0, uint64_t hook_ns = 0) {
    evidence.Add(StepMark{kPid, at * kMs, index, static_cast<uint64_t>(waited * kMs),
                          static_cast<uint64_t>(saved * kMs), index * 8, hook_ns});
    return *this;
  }
  WindowView View() const { return ViewWindows(evidence, kPid).value_or(WindowView{}); }
  Breakdown Parts() const {
    Analysis analysis;
    analysis.steady = FindSteadyState(evidence, kPid);
    analysis.window = ViewWindows(evidence, kPid);
    analysis.sync = ViewSync(evidence, kPid);
    const std::optional<Breakdown> parts = BreakDown(analysis);
    EXPECT_TRUE(parts);
    return parts.value_or(Breakdown{});
  }

  Evidence evidence;

 private:
  static Span Make(SpanKind kind, int64_t start, int64_t length) { return Span{kind, kPid, start * kMs, length * kMs}; }
  Timeline& Put(const Span& span) {
    evidence.Add(span);
    return *this;
  }
};

double Sum(const Breakdown& parts) {
  return parts.input_wait + parts.copy + parts.gpu_compute + parts.communication + parts.launch + parts.sync +
         parts.checkpoint + parts.other;
}

std::vector<std::pair<int64_t, int64_t>> Pairs(const Intervals& intervals) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const Interval& one : intervals) out.emplace_back(one.begin, one.end);
  return out;
}

TEST(Intervals, UnionSortsMergesAndDropsWhatIsEmpty) {
  EXPECT_THAT(Pairs(Union({{5, 7}, {1, 2}, {2, 3}, {6, 9}, {4, 4}, {8, 3}})),
              testing::ElementsAre(testing::Pair(1, 3), testing::Pair(5, 9)));
  EXPECT_TRUE(Union({}).empty());
}

TEST(Intervals, SubtractAndIntersectAgreeWithCountingEveryInstant) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<Interval> raw_a, raw_b;
    for (int i = 0; i < 6; ++i) {
      const auto at = [&] { return static_cast<int64_t>(random() % 40); };
      raw_a.push_back({at(), at()});
      raw_b.push_back({at(), at()});
    }
    const auto in = [](const std::vector<Interval>& any, int64_t t) {
      return std::any_of(any.begin(), any.end(), [t](const Interval& i) { return i.begin <= t && t < i.end; });
    };
    const Intervals a = Union(raw_a), b = Union(raw_b);
    const Intervals both = Intersect(a, b), left = Subtract(a, b);
    for (int64_t t = 0; t < 40; ++t) {
      ASSERT_EQ(in(a, t), in(raw_a, t));
      ASSERT_EQ(in(both, t), in(a, t) && in(b, t));
      ASSERT_EQ(in(left, t), in(a, t) && !in(b, t));
    }
    ASSERT_NEAR(Seconds(both) + Seconds(left), Seconds(a), 1e-15);
  }
}

TEST(WindowView, NothingWithoutATimingWindow) {
  Timeline timeline;
  timeline.Kernel(10, 5).Window(kSync, 0, 100);
  EXPECT_FALSE(ViewWindows(timeline.evidence, kPid));
  EXPECT_FALSE(ViewSync(timeline.evidence, kPid + 1));
}

// Compute hides communication, both hide copies: each instant counts once.
TEST(WindowView, EveryInstantBelongsToOneBucket) {
  Timeline timeline;
  timeline.Window(kTiming, 0, 1000);
  timeline.Kernel(100, 200).Kernel(150, 250);                // 100..400 on two streams
  timeline.Kernel(350, 150, "ncclDevKernel_AllReduce_Sum");  // 400..500 exposed
  timeline.Copy(450, 150, 1000, kPinned, kDevice);           // 500..600 exposed
  const WindowView view = timeline.View();
  EXPECT_NEAR(view.rest.compute, 0.3, 1e-9);
  EXPECT_NEAR(view.rest.communication, 0.1, 1e-9);
  EXPECT_NEAR(view.rest.copy, 0.1, 1e-9);
  EXPECT_NEAR(view.rest.idle, 0.5, 1e-9);
  EXPECT_NEAR(view.kernel_s, 0.4, 1e-9);
  EXPECT_EQ(view.kernels, 3U);
}

TEST(WindowView, WorkThatRunsOverTheEndCountsToTheEnd) {
  Timeline timeline;
  timeline.Window(kTiming, 100, 100).Kernel(150, 500).Kernel(50, 20).Kernel(700, 10);
  const WindowView view = timeline.View();
  EXPECT_NEAR(view.seconds, 0.1, 1e-9);
  EXPECT_NEAR(view.kernel_s, 0.05, 1e-9);
  EXPECT_EQ(view.kernels, 1U);
}

TEST(WindowView, PageableAndPinnedBytesAreKeptApart) {
  Timeline timeline;
  timeline.Window(kTiming, 0, 1000);
  timeline.Kernel(0, 100);
  timeline.Copy(50, 100, 3000, kPageable, kDevice);  // 50 ms of it exposed
  timeline.Copy(200, 50, 1000, kDevice, kPageable);
  timeline.Copy(300, 50, 7000, kPinned, kDevice);
  timeline.Copy(400, 50, 9999, kDevice, kDevice);
  const WindowView view = timeline.View();
  EXPECT_EQ(view.pageable_bytes, 4000U);
  EXPECT_EQ(view.pinned_bytes, 7000U);
  EXPECT_EQ(view.pageable_copies, 2U);
  EXPECT_EQ(view.copies, 4U);
  EXPECT_EQ(view.largest_pageable_bytes, 3000);
  EXPECT_NEAR(view.pageable_copy_s, 0.1, 1e-9);
  EXPECT_NEAR(view.rest.copy, 0.2, 1e-9);
}

TEST(WindowView, OfSeveralDevicesTheBusiestIsShown) {
  for (const bool second_busier : {false, true}) {
    Timeline timeline;
    timeline.Window(kTiming, 0, 1000);
    timeline.Kernel(0, 300, "gemm", second_busier ? 1 : 0).Kernel(500, 100, "gemm", second_busier ? 0 : 1);
    const WindowView view = timeline.View();
    EXPECT_NEAR(view.kernel_s, 0.3, 1e-9) << "devices are not added up";
    EXPECT_EQ(view.kernels, 2U);
  }
}

// A step that ends with a kernel on the GPU hides part of the next wait: only the rest is lost.
TEST(Attribution, OnlyTheExposedPartOfAWaitIsLost) {
  Timeline timeline;
  timeline.Window(kTiming, 1000, 1000);
  for (int64_t step = 0; step < 30; ++step) {
    timeline.Step(static_cast<uint64_t>(step + 1), step * 100 + 100, step * 50 + 50);
    timeline.Host(SpanKind::kInputWait, step * 100, 50);
    timeline.Kernel(step * 100 + 54, 46).Kernel(step * 100, 20);  // 20 of the 50 ms of wait have work
  }
  const Breakdown parts = timeline.Parts();
  EXPECT_NEAR(parts.input_wait, 0.30, 1e-6);
  EXPECT_NEAR(parts.gpu_compute, 0.66, 1e-6);
  EXPECT_NEAR(parts.launch, 0.04, 1e-6);
  EXPECT_NEAR(Sum(parts), 1, 1e-12);
}

// The window saw no wait at all, the run waited half of its time: the marks of the whole run decide.
TEST(Attribution, SharesOfTheRunComeFromItsMarks) {
  Timeline timeline;
  timeline.Window(kTiming, 1000, 100);
  for (int64_t i = 0; i < 25; ++i) timeline.Kernel(1000 + i * 4, 3);
  for (int64_t step = 0; step <= 40; ++step) timeline.Step(static_cast<uint64_t>(step + 1), step * 100, step * 50);
  const Breakdown parts = timeline.Parts();
  EXPECT_NEAR(parts.input_wait, 0.5, 1e-6);
  EXPECT_NEAR(parts.gpu_compute, 0.375, 1e-6);
  EXPECT_NEAR(parts.launch, 0.125, 1e-6);
  EXPECT_NEAR(Sum(parts), 1, 1e-12);
}

TEST(Attribution, CheckpointsAndCompilationHaveTheirOwnShare) {
  Timeline timeline;
  timeline.Window(kTiming, 0, 1000);
  timeline.Host(SpanKind::kCheckpoint, 0, 200).Host(SpanKind::kCompile, 200, 100).Host(SpanKind::kCollection, 250, 150);
  for (int64_t i = 0; i < 60; ++i) timeline.Kernel(400 + i * 10, 10);
  const Breakdown parts = timeline.Parts();
  EXPECT_NEAR(parts.checkpoint, 0.2, 1e-9);
  EXPECT_NEAR(parts.other, 0.2, 1e-9);
  EXPECT_NEAR(parts.gpu_compute, 0.6, 1e-9);
  EXPECT_NEAR(Sum(parts), 1, 1e-12);
}

// GPU busy 40 %, idle 60 %. The host blocks in half of its time: with the other half it could dispatch at most 50 %, so
// that of the idle 60 % a tenth is its own slowness and the rest is the blocking.
TEST(Attribution, IdleTimeIsDividedIntoLaunchAndSync) {
  Timeline timeline;
  timeline.Window(kTiming, 0, 500);
  for (int64_t i = 0; i < 100; ++i) timeline.Kernel(i * 5, 2);
  EXPECT_NEAR(timeline.Parts().launch, 0.6, 1e-9) << "nobody looked for blocking calls";
  timeline.Window(kSync, 2000, 300);
  for (int64_t i = 0; i < 30; ++i) timeline.Call(SpanKind::kSyncCall, 2000 + i * 10, 5);
  const Breakdown parts = timeline.Parts();
  EXPECT_NEAR(parts.gpu_compute, 0.4, 1e-9);
  EXPECT_NEAR(parts.launch, 0.1, 1e-9);
  EXPECT_NEAR(parts.sync, 0.5, 1e-9);
  EXPECT_NEAR(Sum(parts), 1, 1e-12);
}

TEST(Attribution, ASyncNowAndThenIsNotTheLoop) {
  Timeline timeline;
  timeline.Window(kTiming, 0, 500);
  for (int64_t i = 0; i < 100; ++i) timeline.Kernel(i * 5, 2);
  timeline.Window(kSync, 2000, 300).Call(SpanKind::kSyncCall, 2000, 100);
  for (uint64_t step = 1; step <= 300; ++step) timeline.Step(step, static_cast<int64_t>(step) * 10);
  EXPECT_EQ(timeline.Parts().sync, 0);
  EXPECT_NEAR(timeline.Parts().launch, 0.6, 1e-6);
}

// Loading in the training loop itself, without a DataLoader: the host is away for tens of milliseconds a step.
TEST(Attribution, LongGapsAreTheHostsOwnWork) {
  Timeline timeline;
  timeline.Window(kTiming, 0, 1000);
  for (int64_t i = 0; i < 10; ++i) {
    for (int64_t k = 0; k < 10; ++k) timeline.Kernel(i * 100 + k * 4, 3);  // 1 ms apart: dispatching
  }
  const Breakdown parts = timeline.Parts();
  EXPECT_NEAR(parts.gpu_compute, 0.30, 1e-9);
  EXPECT_NEAR(parts.launch, 0.09, 1e-9);
  EXPECT_NEAR(parts.host_work, 0.61, 1e-9);
  EXPECT_NEAR(parts.other, 0.61, 1e-9);
  EXPECT_NEAR(Sum(parts), 1, 1e-12);
}

TEST(Attribution, FewKernelsMeanThatTheHostDidSomethingElse) {
  Timeline timeline;
  timeline.Window(kTiming, 0, 1000).Kernel(0, 100).Kernel(500, 100);
  const Breakdown parts = timeline.Parts();
  EXPECT_NEAR(parts.other, 0.8, 1e-9);
  EXPECT_EQ(parts.launch, 0);
}

TEST(SyncView, TheThreadThatBlocksMostCountsAndWaitsForInputDoNot) {
  Timeline timeline;
  timeline.Window(kSync, 0, 300);
  timeline.Call(SpanKind::kSyncCall, 0, 50, 1).Call(SpanKind::kSyncCall, 10, 20, 1);  // overlap: 50 ms
  timeline.Call(SpanKind::kCopyCall, 100, 30, 2).Call(SpanKind::kSyncCall, 150, 40, 2);
  timeline.Host(SpanKind::kInputWait, 140, 20);
  const std::optional<SyncView> view = ViewSync(timeline.evidence, kPid);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->syncs, 3U);
  EXPECT_EQ(view->copies, 1U);
  EXPECT_NEAR(view->blocked_s, 0.060, 1e-9) << "30 + 40 less the 10 inside the wait";
  EXPECT_NEAR(view->outside_wait_s, 0.280, 1e-9);
}

TEST(SteadyState, WarmUpIsLeftOutAndDifferencesAreExact) {
  Timeline timeline;
  timeline.Step(1, 30'000, 29'000);  // the first batch took half a minute
  for (int64_t step = 2; step <= 100; ++step) {
    timeline.Step(static_cast<uint64_t>(step), 30'000 + step * 100, 29'000 + step * 10, step / 50 * 40, 1000);
  }
  const std::optional<SteadyState> steady = FindSteadyState(timeline.evidence, kPid);
  ASSERT_TRUE(steady);
  EXPECT_EQ(steady->steps, 90U) << "a tenth is warm-up";
  EXPECT_NEAR(steady->start_s, 31.0, 1e-9);
  EXPECT_NEAR(steady->wait_s, 0.9, 1e-9);
  EXPECT_NEAR(steady->save_s, 0.08, 1e-9);
  EXPECT_EQ(steady->items, 720U);
  EXPECT_NEAR(steady->hook_s, 90e-6, 1e-12);
}

// What thinning leaves out changes no total.
TEST(SteadyState, ThinnedMarksGiveTheSameTotals) {
  Timeline full, thinned;
  for (int64_t step = 1; step <= 5000; ++step) {
    full.Step(static_cast<uint64_t>(step), step * 7, step * 3, step / 100);
    if (step <= 200 || step % 143 == 0 || step == 5000)
      thinned.Step(static_cast<uint64_t>(step), step * 7, step * 3, step / 100);
  }
  const SteadyState a = *FindSteadyState(full.evidence, kPid), b = *FindSteadyState(thinned.evidence, kPid);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.wait_s, b.wait_s);
  EXPECT_EQ(a.save_s, b.save_s);
  EXPECT_EQ(a.seconds(), b.seconds());
}

TEST(SteadyState, TotalsThatShrinkAreNotBelieved) {
  Timeline timeline;
  for (int64_t step = 1; step <= 20; ++step) timeline.Step(static_cast<uint64_t>(step), step * 10, 1000 - step);
  EXPECT_FALSE(FindSteadyState(timeline.evidence, kPid));
  Timeline one;
  one.Step(1, 10);
  EXPECT_FALSE(FindSteadyState(one.evidence, kPid));
}

// Whatever lies over whatever: the parts are never negative and their sum is 1.
TEST(Attribution, RandomTimelinesSumToOne) {
  std::mt19937 random(20260131);
  const auto at = [&](int64_t below) { return static_cast<int64_t>(random() % static_cast<uint32_t>(below)); };
  int judged = 0;
  for (int round = 0; round < 300; ++round) {
    Timeline timeline;
    timeline.Window(kTiming, 1000, 1 + at(1000)).Window(kSync, 2100, 1 + at(300));
    for (int i = 0; i < 60; ++i) {
      timeline.Kernel(900 + at(1200), at(60), at(4) == 0 ? "ncclKernel_Broadcast" : "gemm",
                      static_cast<int32_t>(at(2)));
      timeline.Copy(900 + at(1200), at(60), random(), static_cast<uint32_t>(at(4)), static_cast<uint32_t>(at(4)),
                    static_cast<int32_t>(at(2)));
      timeline.Call(i % 2 == 0 ? SpanKind::kSyncCall : SpanKind::kCopyCall, 2000 + at(500), at(30),
                    static_cast<uint32_t>(at(3)));
    }
    for (const SpanKind kind :
         {SpanKind::kInputWait, SpanKind::kCheckpoint, SpanKind::kCompile, SpanKind::kCollection}) {
      for (int i = 0; i < at(5); ++i) timeline.Host(kind, 900 + at(1500), at(400));
    }
    for (int64_t step = 1; round % 2 == 0 && step < 40; ++step)
      timeline.Step(static_cast<uint64_t>(step), step * 100, step * at(100), 0);
    Analysis analysis;
    analysis.steady = FindSteadyState(timeline.evidence, kPid);
    analysis.window = ViewWindows(timeline.evidence, kPid);
    analysis.sync = ViewSync(timeline.evidence, kPid);
    const std::optional<Breakdown> parts = BreakDown(analysis);
    if (!parts) continue;
    ++judged;
    ASSERT_NEAR(Sum(*parts), 1, 1e-9);
    for (const double part : {parts->input_wait, parts->copy, parts->gpu_compute, parts->communication, parts->launch,
                              parts->sync, parts->checkpoint, parts->other}) {
      ASSERT_GE(part, 0);
      ASSERT_LE(part, 1 + 1e-9);
    }
  }
  EXPECT_GT(judged, 200);
}

}  // namespace
}  // namespace gpuwhy
