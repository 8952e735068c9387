// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/fakes/ring_job.h"

namespace gpuwhy {
namespace {

using fakes::IdleProcess;
using fakes::RingJob;
using fakes::RingWriter;
using fakes::WindowAt;
using wire::Command;
using wire::Producer;
using wire::WindowAction;
using wire::WindowMode;

constexpr uint64_t kMs = 1'000'000;

wire::Kernel KernelAt(uint64_t start_ns, uint64_t duration_ns = kMs, uint32_t name = 0) {
  wire::Kernel kernel{};
  kernel.start_ns = start_ns;
  kernel.duration_ns = duration_ns;
  kernel.name = name;
  kernel.stream = 7;
  kernel.blocks = 1056;
  kernel.threads = 256;
  return kernel;
}

const Span* FindSpan(const Evidence& evidence, SpanKind kind) {
  for (const Span& span : evidence.spans()) {
    if (span.kind == kind) return &span;
  }
  return nullptr;
}

void WriteCopyAndCall(const RingJob& job, RingWriter& ring) {
  wire::Memcpy copy{};
  copy.start_ns = job.At(10'020);
  copy.duration_ns = 2 * kMs;
  copy.bytes = 4096;
  copy.kind = 1;
  copy.source = 1;
  copy.target = 3;
  ring.Write(copy);
  wire::Api api{};
  api.start_ns = job.At(10'030);
  api.duration_ns = kMs;
  api.cbid = 131;
  api.domain = 2;
  api.is_sync = 1;
  api.thread = 99;
  ring.Write(api);
}

TEST(CudaWitness, RecordsBecomeSpans) {
  RingJob job("cuda");
  RingWriter ring(job.folder(), Producer::kCuda);
  const uint32_t name = ring.Blob(wire::BlobKind::kKernelName, "_ZN2at6native4gemmEv");
  ring.Write(WindowAt(job.At(10'000), WindowAction::kBegin, WindowMode::kProof));
  ring.Write(KernelAt(job.At(10'010), 5 * kMs, name));
  WriteCopyAndCall(job, ring);
  ring.Write(WindowAt(job.At(10'900), WindowAction::kEnd, WindowMode::kProof, 1, 3 * kMs));
  job.Start();
  job.Poll();
  job.Stop();
  const Span* kernel = FindSpan(job.evidence, SpanKind::kKernel);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->start_ns, static_cast<int64_t>(10'010 * kMs)) << "times count from the begin of the session";
  EXPECT_EQ(job.evidence.Name(kernel->name), "at::native::gemm()");
  EXPECT_EQ(kernel->detail[0], 1056U);
  const Span* moved = FindSpan(job.evidence, SpanKind::kCopy);
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(moved->bytes, 4096U);
  EXPECT_EQ(moved->detail[1], 1U);
  const Span* call = FindSpan(job.evidence, SpanKind::kSyncCall);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->lane, 99U);
  EXPECT_EQ(job.evidence.Name(call->name), "cudaStreamSynchronize");
  const Span* window = FindSpan(job.evidence, SpanKind::kWindow);
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(window->duration_ns, static_cast<int64_t>(31 * kMs)) << "a proof window lasts as long as it has records";
  EXPECT_DOUBLE_EQ(*job.Fact("cuda.window_cost.seconds"), 0.003);
  EXPECT_EQ(job.Fact("cuda.windows.count"), 1);
  EXPECT_EQ(job.Fact("cuda.windows.unfinished"), 0);
  EXPECT_EQ(job.Fact("cuda.ring.malformed"), 0);
}

// Order, acknowledgement, window, its end, and the synchronisation window behind it.
TEST(CudaWitness, AWarmProcessGetsATimingWindowAndThenASyncWindow) {
  RingJob job("cuda");
  RingWriter ring(job.folder(), Producer::kCuda);
  ring.SetState(wire::State::kDetaching);  // it waits for a call to leave by; orders are taken all the same
  ring.Write(KernelAt(job.At(50'000)));
  job.Start();
  job.Poll();
  EXPECT_EQ(ring.TakeCommand(), Command::kTimingWindow);
  EXPECT_EQ(ring.Get<uint32_t>(wire::kOffsetCommandMs), 1000U);
  ring.SetState(wire::State::kTiming);
  const uint64_t begin = fakes::NowNs();
  ring.Write(WindowAt(begin, WindowAction::kBegin, WindowMode::kTiming));
  job.Poll();
  // The library left CUPTI nine seconds after the second that was asked for: nothing was recorded in between.
  ring.Write(WindowAt(begin + 10'000 * kMs, WindowAction::kEnd, WindowMode::kTiming, 1, 20 * kMs));
  ring.SetState(wire::State::kDetached);
  job.Poll();
  EXPECT_EQ(ring.TakeCommand(), Command::kSyncWindow);
  EXPECT_EQ(ring.Get<uint32_t>(wire::kOffsetCommandMs), 300U);
  EXPECT_GT(ring.Get<uint64_t>(wire::kOffsetLeaseNs), begin - 1000 * kMs);
  job.Stop();
  const Span* window = FindSpan(job.evidence, SpanKind::kWindow);
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(window->duration_ns, static_cast<int64_t>(1000 * kMs));
  EXPECT_EQ(window->detail[0], 2U);
  EXPECT_EQ(ring.TakeCommand(), Command::kClose) << "at the end the library is asked to leave";
  EXPECT_DOUBLE_EQ(*job.Fact("cuda.window_lost.seconds"), 0.02);
}

TEST(CudaWitness, StepsOfThePythonAgentDecideWhenItIsWarm) {
  RingJob job("cuda");
  RingWriter ring(job.folder(), Producer::kCuda);
  RingWriter python(job.folder(), Producer::kPython);
  python.Put<uint64_t>(wire::kOffsetSteps, 5);
  ring.Write(KernelAt(job.At(50'000)));
  job.Start();
  job.Poll();
  EXPECT_EQ(ring.TakeCommand(), Command::kNone) << "work since 50 s, but five steps only";
  python.Put<uint64_t>(wire::kOffsetSteps, 20);
  job.Poll();
  EXPECT_EQ(ring.TakeCommand(), Command::kTimingWindow);
  job.Stop();
}

TEST(CudaWitness, AfterTheJobsOwnProfilerNoWindowOpens) {
  RingJob job("cuda");
  RingWriter ring(job.folder(), Producer::kCuda);
  RingWriter python(job.folder(), Producer::kPython);
  ring.Write(KernelAt(job.At(50'000)));
  python.Write(fakes::ProfilerStart());
  job.Start();
  for (int i = 0; i < 3; ++i) job.Poll();
  EXPECT_EQ(ring.TakeCommand(), Command::kNone);
  EXPECT_EQ(job.WhyGap("further windows into the GPU work of process"), "the job's own profiler was started");
  EXPECT_EQ(job.evidence.gaps().size(), 1U);
  EXPECT_EQ(python.Get<uint64_t>(wire::kOffsetTail), 0U) << "the agent's ring belongs to another witness";
  job.Stop();
}

TEST(CudaWitness, ALibraryThatStepsAsideIsLeftAloneAndNamed) {
  RingJob job("cuda");
  RingWriter ring(job.folder(), Producer::kCuda);
  ring.Write(KernelAt(job.At(50'000)));
  ring.SetState(wire::State::kSteppedAside);
  job.Start();
  job.Poll();
  EXPECT_EQ(ring.TakeCommand(), Command::kNone);
  EXPECT_EQ(job.evidence.Text("cuda.state"), "stepped_aside");
  job.Stop();
}

TEST(CudaWitness, WithoutTracingNothingIsOrdered) {
  RingJob job("cuda");
  job.context().trace = "off";
  RingWriter ring(job.folder(), Producer::kCuda);
  ring.Write(KernelAt(job.At(50'000)));
  job.Start();
  job.Poll();
  EXPECT_EQ(ring.TakeCommand(), Command::kNone);
  job.Stop();
}

TEST(CudaWitness, PermanentTracingIsAskedForOnceAndSummedUp) {
  RingJob job("cuda");
  job.context().trace = "permanent";
  RingWriter ring(job.folder(), Producer::kCuda);
  ring.SetState(wire::State::kProof);
  job.Start();
  job.Poll();
  EXPECT_EQ(ring.TakeCommand(), Command::kPermanent);
  const uint32_t sequence = ring.Get<uint32_t>(wire::kOffsetCommandSeq);
  const uint32_t name = ring.Blob(wire::BlobKind::kKernelName, "gemm");
  for (uint64_t second = 1; second <= 3; ++second) {
    wire::KernelSum sum{};
    sum.time_ns = job.At(60'000 + second * 1000);
    sum.name = name;
    sum.count = 100 * second;
    sum.total_ns = 400 * kMs;
    sum.busy_ns = 300 * kMs;
    ring.Write(sum);
  }
  job.Poll();
  EXPECT_EQ(ring.Get<uint32_t>(wire::kOffsetCommandSeq), sequence);
  job.Stop();
  const Series& counts = job.evidence.Samples("cuda.kernels.count", Entity::Process(getpid()));
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts[2].value, 300);
  EXPECT_NEAR(counts[2].time_s, 63, 1e-6);
  EXPECT_DOUBLE_EQ(job.evidence.Samples("cuda.busy.seconds", Entity::Process(getpid()))[1].value, 0.3);
  EXPECT_EQ(job.evidence.Find("cuda.permanent.kernels")->value.AsList()->at(0), "1.200000 s, 600 times: gemm");
}

TEST(CudaWitness, TwoProcessesTakeTurns) {
  const IdleProcess other;
  RingJob job("cuda");
  RingWriter mine(job.folder(), Producer::kCuda);
  RingWriter theirs(job.folder(), Producer::kCuda, 1024, other.pid());
  mine.Write(KernelAt(job.At(50'000)));
  theirs.Write(KernelAt(job.At(50'000)));
  theirs.Write(KernelAt(job.At(50'002)));
  job.Start();
  job.Poll();
  const bool first = mine.TakeCommand() == Command::kTimingWindow,
             second = theirs.TakeCommand() == Command::kTimingWindow;
  EXPECT_NE(first, second) << "one window at a time: ranks wait for each other";
  job.Stop();
  EXPECT_EQ(job.witness().KnownProcesses().size(), 2U);
  size_t own = 0;
  for (const Span& span : job.evidence.spans()) own += span.pid == getpid() ? 1 : 0;
  EXPECT_EQ(own, 1U);
  EXPECT_EQ(job.evidence.spans().size(), 3U);
}

// What was in the ring of a killed process counts; its open window ends with its last record.
TEST(CudaWitness, AKilledProcessLeavesAnUnfinishedWindow) {
  IdleProcess victim;
  const uint32_t pid = victim.pid();
  RingJob job("cuda");
  RingWriter ring(job.folder(), Producer::kCuda, 1024, pid);
  job.Start();
  ring.Write(WindowAt(job.At(50'000), WindowAction::kBegin, WindowMode::kTiming));
  ring.Write(KernelAt(job.At(50'100), 50 * kMs));
  ring.ReserveOnly();
  ring.Write(KernelAt(job.At(50'200), 50 * kMs));
  job.Poll();
  victim.Kill();
  job.Poll();
  EXPECT_EQ(job.Spans(SpanKind::kKernel), 2U);
  const Span* window = FindSpan(job.evidence, SpanKind::kWindow);
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(window->duration_ns, static_cast<int64_t>(250 * kMs));
  EXPECT_EQ(job.Fact("cuda.windows.unfinished", pid), 1);
  EXPECT_EQ(job.Fact("cuda.ring.unfinished", pid), 1);
  EXPECT_FALSE(FileExists(ring.path()));
  job.Stop();
}

TEST(CudaWitness, WhatMakesNoSenseIsCountedAndLeftOut) {
  RingJob job("cuda");
  RingWriter ring(job.folder(), Producer::kCuda);
  ring.Write(KernelAt(~uint64_t{0}));
  ring.Write(KernelAt(job.At(1), ~uint64_t{0}));
  wire::Kernel late = KernelAt(job.At(1));
  late.time_ns = ~uint64_t{0};
  ring.Write(late);
  ring.Write(WindowAt(job.At(5), WindowAction::kEnd, WindowMode::kTiming, 77));  // never began
  ring.Blob(wire::BlobKind::kFactsJson, "{not json");
  job.Start();
  job.Stop();
  EXPECT_TRUE(job.evidence.spans().empty());
  EXPECT_EQ(job.Fact("cuda.ring.malformed"), 5);
  EXPECT_NE(job.WhyGap("cuda facts of process"), "");
}

TEST(CudaWitness, LongKernelNamesAreCutBetweenCharacters) {
  RingJob job("cuda");
  RingWriter ring(job.folder(), Producer::kCuda, 1 << 16);
  std::string text = "k";
  for (int i = 0; i < 100'000; ++i) text += "\xe7\x8c\xab";
  const uint32_t name = ring.Blob(wire::BlobKind::kKernelName, text);
  ring.Write(KernelAt(job.At(50'000), kMs, name));
  ring.Write(KernelAt(job.At(50'002), kMs, 4711));  // its name was lost
  job.Start();
  job.Stop();
  ASSERT_EQ(job.evidence.spans().size(), 2U);
  const std::string& shown = job.evidence.Name(job.evidence.spans()[0].name);
  EXPECT_LE(shown.size(), 200U);
  EXPECT_EQ(shown.substr(shown.size() - 6), "\xe7\x8c\xab...");
  EXPECT_EQ(job.evidence.spans()[1].name, 0U);
}

TEST(CudaWitness, AFullRingIsSaid) {
  RingJob job("cuda");
  RingWriter ring(job.folder(), Producer::kCuda, 16);
  for (uint64_t i = 0; i < 20; ++i) ring.Write(KernelAt(job.At(50'000 + i)));
  job.Start();
  job.Stop();
  EXPECT_EQ(job.Spans(SpanKind::kKernel), 16U);
  EXPECT_EQ(job.Fact("cuda.ring.dropped"), 4);
}

}  // namespace
}  // namespace gpuwhy
