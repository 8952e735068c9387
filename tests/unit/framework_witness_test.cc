// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/file.h"
#include "engine/analysis.h"
#include "tests/fakes/ring_job.h"

namespace gpuwhy {
namespace {

using fakes::IdleProcess;
using fakes::RingJob;
using fakes::RingWriter;
using wire::Producer;
using wire::WindowAction;
using wire::WindowMode;

constexpr uint64_t kMs = 1'000'000;

// Step `index` of 2 ms that ends at `end_ns`: 1 ms and a bit of it a wait for input.
uint64_t WriteStep(RingWriter& ring, uint64_t index, uint64_t end_ns, uint64_t& waited) {
  wire::Wait wait{};
  wait.start_ns = end_ns - 2 * kMs;
  wait.duration_ns = kMs + index % 1000;
  wait.time_ns = wait.start_ns + wait.duration_ns;
  wait.items = 32;
  ring.Write(wait);
  waited += wait.duration_ns;
  wire::Step step{};
  step.time_ns = end_ns;
  step.index = index;
  step.wait_ns = waited;
  step.items = index * 32;
  step.hook_ns = 700;
  ring.Write(step);
  return waited;
}

void ExpectHooksAndWindowKept(const std::vector<StepMark>& marks, uint64_t steps) {
  uint64_t hooks = 0, inside = 0;
  for (const StepMark& mark : marks) {
    hooks += mark.hook_ns;
    inside += mark.time_ns >= static_cast<int64_t>(20'000 * kMs) && mark.time_ns <= static_cast<int64_t>(21'000 * kMs)
                  ? 1
                  : 0;
  }
  EXPECT_EQ(hooks, steps * 700) << "hook time of marks left out is in the next one";
  EXPECT_EQ(inside, 501U) << "every mark of the window";
}

TEST(FrameworkWitness, ThinningKeepsTotalsAndWhatLiesInWindows) {
  RingJob job("framework");
  RingWriter ring(job.folder(), Producer::kPython, 1 << 16);
  RingWriter cuda(job.folder(), Producer::kCuda, 64);
  cuda.Write(fakes::WindowAt(job.At(20'000), WindowAction::kBegin, WindowMode::kTiming));
  cuda.Write(fakes::WindowAt(job.At(21'000), WindowAction::kEnd, WindowMode::kTiming));
  job.Start();
  uint64_t waited = 0;
  constexpr uint64_t kSteps = 20'000;  // 2 ms each, from 10 s on
  for (uint64_t i = 1; i <= kSteps; ++i) {
    WriteStep(ring, i, job.At(10'000 + 2 * i), waited);
    if (i % 5000 == 0) job.Poll();
  }
  job.Stop();
  EXPECT_DOUBLE_EQ(*job.Fact("framework.input_wait.seconds"), static_cast<double>(waited) / 1e9);
  EXPECT_EQ(job.Fact("framework.steps.count"), 20'000);
  EXPECT_EQ(job.Fact("framework.ring.dropped"), 0);
  EXPECT_EQ(job.Fact("framework.ring.malformed"), 0);
  const std::vector<StepMark>& marks = job.evidence.steps();
  EXPECT_LT(marks.size(), 1000U) << "thinned";
  EXPECT_EQ(marks.back().wait_ns, waited) << "the last mark is written";
  EXPECT_EQ(marks.back().index, kSteps);
  ExpectHooksAndWindowKept(marks, kSteps);
  uint64_t waits_inside = 0;
  for (const Span& span : job.evidence.spans()) {
    if (span.kind == SpanKind::kInputWait && span.end_ns() >= static_cast<int64_t>(20'000 * kMs) &&
        span.start_ns <= static_cast<int64_t>(21'000 * kMs))
      ++waits_inside;
  }
  EXPECT_GE(waits_inside, 500U);
  EXPECT_LT(job.Spans(SpanKind::kInputWait), 1000U);
  // The shares that the verdict is made of come out of thinned marks as they would out of all.
  const std::optional<SteadyState> steady = FindSteadyState(job.evidence, getpid());
  ASSERT_TRUE(steady);
  EXPECT_NEAR(steady->wait_s / steady->seconds(), 0.5, 0.001);
}

TEST(FrameworkWitness, CompilationsKeepTheirStage) {
  RingJob job("framework");
  RingWriter ring(job.folder(), Producer::kPython);
  job.Start();
  for (uint16_t stage = 0; stage < 4; ++stage) {
    wire::Compile compile{};
    compile.flags = stage;
    compile.start_ns = job.At(1'000 + 100 * stage);
    compile.duration_ns = 50 * kMs;
    compile.time_ns = compile.start_ns + compile.duration_ns;
    ring.Write(compile);
  }
  job.Poll();
  job.Stop();
  std::vector<uint32_t> stages;
  for (const Span& span : job.evidence.spans()) {
    if (span.kind == SpanKind::kCompile) stages.push_back(span.detail[0]);
  }
  EXPECT_EQ(stages, (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(FrameworkWitness, FactsComeAndABadTextIsAGap) {
  RingJob job("framework");
  RingWriter ring(job.folder(), Producer::kPython);
  ring.Blob(wire::BlobKind::kFactsJson,
            R"({"facts":{"torch.version":"2.11.0","framework.torch.cuda_available":true,"n":3},)"
            R"("states":{"torch.x":"no-permission: not allowed","torch.y":""}})");
  ring.Blob(wire::BlobKind::kFactsJson, "{\"facts\": {\"torch.version\": ");
  ring.Blob(wire::BlobKind::kFactsJson, "[1]");
  ring.Blob(wire::BlobKind::kGapJson, R"({"what":"steps","why":"no optimizer was seen","fix":"none"})");
  ring.Blob(wire::BlobKind::kGapJson, "\xff\xfe");
  job.Start();
  job.Poll();
  job.Stop();
  EXPECT_EQ(job.evidence.Text("framework.torch.version"), "2.11.0");
  EXPECT_EQ(job.evidence.Bool("framework.torch.cuda_available"), true);
  EXPECT_EQ(job.evidence.Find("framework.torch.x")->value.state, State::kNoPermission);
  EXPECT_EQ(job.evidence.Find("framework.torch.x")->value.why, "not allowed");
  EXPECT_EQ(job.evidence.Find("framework.torch.y")->value.state, State::kUnknown);
  EXPECT_NE(job.WhyGap("facts of process " + std::to_string(getpid())), "");
  EXPECT_EQ(job.WhyGap("steps"), "no optimizer was seen");
  EXPECT_EQ(job.Fact("framework.ring.malformed"), 3);
}

TEST(FrameworkWitness, AHugeTextComesWholeAndATooHugeOneIsCounted) {
  RingJob job("framework");
  RingWriter ring(job.folder(), Producer::kPython, 1 << 17);
  const std::string value(900'000, 'x');
  ring.Blob(wire::BlobKind::kFactsJson, "{\"facts\":{\"long\":\"" + value + "\"}}");
  ring.Blob(wire::BlobKind::kFactsJson, "{\"facts\":{\"too_long\":\"" + value + value + "\"}}");
  ring.Blob(wire::BlobKind::kFactsJson, R"({"facts":{"after":1}})");
  job.Start();
  job.Poll();
  job.Stop();
  EXPECT_EQ(job.evidence.Text("framework.long"), value);
  EXPECT_EQ(job.evidence.Find("framework.too_long"), nullptr);
  EXPECT_EQ(job.Fact("framework.after"), 1);
  EXPECT_GT(*job.Fact("framework.ring.malformed"), 0);
}

TEST(FrameworkWitness, TimesThatMakeNoSenseAreCounted) {
  RingJob job("framework");
  RingWriter ring(job.folder(), Producer::kPython);
  for (const uint64_t bad : {~uint64_t{0}, uint64_t{1} << 62, job.At(500'000)}) {
    wire::Wait wait{};
    wait.start_ns = bad;
    wait.duration_ns = bad;
    ring.Write(wait);
  }
  wire::Step step{};
  step.index = ~uint64_t{0};
  ring.Write(step);
  job.Start();
  job.Stop();
  EXPECT_EQ(job.Fact("framework.ring.malformed"), 4);
  EXPECT_TRUE(job.evidence.spans().empty());
  EXPECT_FALSE(job.Fact("framework.input_wait.seconds")) << "never seen is not 0 seconds";
}

TEST(FrameworkWitness, TwoProcessesStayApart) {
  const IdleProcess other;
  RingJob job("framework");
  RingWriter mine(job.folder(), Producer::kPython);
  RingWriter theirs(job.folder(), Producer::kPython, 1024, other.pid());
  RingWriter their_cuda(job.folder(), Producer::kCuda, 64, other.pid());
  their_cuda.Write(fakes::WindowAt(job.At(30'000), WindowAction::kBegin, WindowMode::kTiming));
  job.Start();
  uint64_t waited = 0, their_wait = 0;
  for (uint64_t i = 1; i <= 300; ++i) {
    WriteStep(mine, i, job.At(40'000 + i), waited);
    WriteStep(theirs, i, job.At(40'000 + i), their_wait);
  }
  job.Stop();
  EXPECT_EQ(job.witness().KnownProcesses().size(), 2U);
  EXPECT_DOUBLE_EQ(*job.Fact("framework.input_wait.seconds"), static_cast<double>(waited) / 1e9);
  EXPECT_DOUBLE_EQ(*job.Fact("framework.input_wait.seconds", other.pid()), static_cast<double>(their_wait) / 1e9);
  size_t mine_marks = 0, their_marks = 0;
  for (const StepMark& mark : job.evidence.steps()) ++(mark.pid == getpid() ? mine_marks : their_marks);
  EXPECT_EQ(mine_marks, 201U) << "the first two hundred and the last";
  EXPECT_EQ(their_marks, 300U) << "all lie in the other's window";
}

// A process that dies in the middle of a record loses that one; its ring goes away and the rest is kept.
TEST(FrameworkWitness, AKilledProcessLosesOneRecord) {
  IdleProcess victim;
  const uint32_t pid = victim.pid();
  RingJob job("framework");
  RingWriter ring(job.folder(), Producer::kPython, 1024, pid);
  job.Start();
  uint64_t waited = 0;
  WriteStep(ring, 1, job.At(50'000), waited);
  job.Poll();
  WriteStep(ring, 2, job.At(51'000), waited);
  ring.ReserveOnly();
  WriteStep(ring, 3, job.At(52'000), waited);
  victim.Kill();
  job.Poll();
  EXPECT_EQ(job.Fact("framework.steps.count", pid), 3);
  EXPECT_EQ(job.Fact("framework.ring.unfinished", pid), 1);
  EXPECT_DOUBLE_EQ(*job.Fact("framework.input_wait.seconds", pid), static_cast<double>(waited) / 1e9);
  EXPECT_FALSE(FileExists(ring.path())) << "its 8 MB are given back";
  job.Stop();
  EXPECT_EQ(job.evidence.steps().size(), 3U);
}

TEST(FrameworkWitness, AnOpenTimingWindowAsksForHostSamplesOnce) {
  RingJob job("framework");
  RingWriter ring(job.folder(), Producer::kPython);
  RingWriter cuda(job.folder(), Producer::kCuda, 64);
  job.Start();
  job.Poll();
  EXPECT_EQ(ring.TakeCommand(), wire::Command::kNone);
  cuda.Write(fakes::WindowAt(0, WindowAction::kBegin, WindowMode::kTiming));
  job.Poll();
  EXPECT_EQ(ring.TakeCommand(), wire::Command::kHostSamples);
  const uint32_t sequence = ring.Get<uint32_t>(wire::kOffsetCommandSeq);
  job.Poll();
  EXPECT_EQ(ring.Get<uint32_t>(wire::kOffsetCommandSeq), sequence);
  job.Stop();
}

TEST(FrameworkWitness, AFileThatIsNoRingIsNamedOnce) {
  RingJob job("framework");
  ASSERT_TRUE(WriteFile(job.folder() + "/1-1-py.ring", "not a ring"));
  job.Start();
  job.Poll();
  job.Stop();
  EXPECT_NE(job.WhyGap("what the Python agent of one process wrote"), "");
  EXPECT_EQ(job.evidence.gaps().size(), 1U);
}

}  // namespace
}  // namespace gpuwhy
