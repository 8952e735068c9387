// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// The injection library on its real loading path: fake driver -> CUDA_INJECTION64_PATH -> fake CUPTI.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <set>

#include "expect.h"

namespace gpuwhy::inject_test {
namespace {

TEST(Inject, ShortJobLeavesItsKernelsAtExit) {
  JobRunner job;
  job.Run({"init", "context", "launch", "6", "copy", "2", "memset", "1"});
  const auto kernels = job.All<wire::Kernel>();
  ASSERT_EQ(kernels.size(), 6u) << job.Log();
  EXPECT_EQ(job.All<wire::Memcpy>().size(), 2u);
  EXPECT_EQ(job.All<wire::Memset>().size(), 1u);
  EXPECT_EQ(kernels[0].blocks, 4u);
  EXPECT_EQ(kernels[0].threads, 128u);
  EXPECT_EQ(kernels[0].stream, 7u);
  EXPECT_EQ(kernels[0].device, 1u);
  EXPECT_EQ(kernels[0].duration_ns, 1500u);
  EXPECT_EQ(kernels[0].graph, 0u);
  EXPECT_EQ(kernels[0].name, kernels[3].name);
  EXPECT_NE(kernels[0].name, kernels[1].name);
  EXPECT_EQ(job.Blobs(wire::BlobKind::kKernelName), "_Z4gemmPfS_S_\n_Z4reluPf\n_Z4normPf\n");
  EXPECT_EQ(job.Windows(), "proof:begin proof:end");
  EXPECT_EQ(job.All<wire::Window>()[1].records, 9u);
  EXPECT_EQ(job.Header<uint32_t>(wire::kOffsetClosed), 1u);
  EXPECT_FALSE(Has(job.Log(), "finalize")) << "nothing is torn down in exit()";
  const wire::Memcpy copy = job.All<wire::Memcpy>()[0];
  EXPECT_EQ(copy.bytes, 4096u);
  EXPECT_EQ(copy.source, static_cast<uint8_t>(wire::MemoryKind::kPageable));
  ExpectClean(job);
}

TEST(Inject, TimesAreOnTheMonotonicClock) {
  JobRunner job;
  job.Run({"init", "context", "launch", "1"});
  const auto kernels = job.All<wire::Kernel>();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_GT(kernels[0].start_ns, job.Header<uint64_t>(wire::kOffsetCreatedNs));
  EXPECT_LT(kernels[0].start_ns, kernels[0].time_ns);
}

TEST(Inject, ProofWindowEndsByItselfAndDetachesFully) {
  JobRunner job;
  job.Start({"init", "context", "pace", "600"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  EXPECT_EQ(job.Finish(), 0);
  EXPECT_EQ(job.Windows(), "proof:begin proof:end");
  const auto kernels = job.All<wire::Kernel>();
  EXPECT_GT(kernels.size(), 20u);
  EXPECT_LT(kernels.size(), 550u);
  EXPECT_TRUE(Has(job.Log(), "finalize"));
  EXPECT_EQ(job.All<wire::Window>()[1].status, 0);
  EXPECT_GT(job.All<wire::Window>()[1].cost_ns, 0u);
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "\"cuda.cupti.version\":130001"));
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "cuda.cupti.path\":\"" + std::string(FAKES_DIR)));
  ExpectClean(job);
}

TEST(Inject, ProofWindowEndsAtItsRecordLimit) {
  JobRunner job;
  job.Start({"init", "context", "launch", "5000", "pace", "100"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Finish();
  ASSERT_EQ(job.Windows(), "proof:begin proof:end");
  EXPECT_GE(job.All<wire::Window>()[1].records, 2000u);
  ExpectClean(job);
}

TEST(Inject, ProcessWithoutContextIsLeftAlone) {
  JobRunner job;
  job.Run({"init", "sleep", "50"});
  EXPECT_EQ(job.Windows(), "");
  EXPECT_FALSE(Has(job.Log(), "enable")) << job.Log();
  EXPECT_EQ(job.State(), wire::State::kIdle);
  EXPECT_EQ(job.Header<uint32_t>(wire::kOffsetClosed), 1u);
}

TEST(Inject, TimingThenSyncWindowOnCommand) {
  JobRunner job;
  job.Start({"init", "context", "pace", "2500"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  const size_t before = job.All<wire::Kernel>().size();
  job.Command(wire::Command::kTimingWindow, 150);
  ASSERT_TRUE(job.Until([&] { return job.Header<uint32_t>(wire::kOffsetAckSeq) == 1; }));
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  EXPECT_GT(job.All<wire::Kernel>().size(), before);
  EXPECT_EQ(job.All<wire::Api>().size(), 0u);
  job.Command(wire::Command::kSyncWindow, 150);
  ASSERT_TRUE(job.Until([&] { return job.Header<uint32_t>(wire::kOffsetAckSeq) == 2; }));
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Finish();
  EXPECT_EQ(job.Windows(), "proof:begin proof:end timing:begin timing:end sync:begin sync:end");
  const auto calls = job.All<wire::Api>();
  ASSERT_GT(calls.size(), 10u);
  EXPECT_EQ(calls[0].cbid, 131u);
  EXPECT_EQ(calls[0].is_sync, 1u);
  EXPECT_EQ(calls[0].thread, job.Header<uint32_t>(wire::kOffsetPid)) << "the job's only thread";
  EXPECT_EQ(Count(job.Log(), "finalize"), 3u);
  ExpectClean(job);
}

TEST(Inject, ProofWindowOfAJobThatCopiesFirstHoldsKernels) {
  JobRunner job;
  job.Start({"init", "context", "copy", "20", "sleep", "600", "pace", "700"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Finish();
  EXPECT_EQ(job.All<wire::Memcpy>().size(), 20u);
  EXPECT_GT(job.All<wire::Kernel>().size(), 20u);
  ExpectClean(job);
}

TEST(Inject, ProofWindowWithCopiesAloneEndsToo) {
  JobRunner job;
  job.Start({"init", "context", "copy", "20", "sleep", "2600", "sync", "1", "sleep", "100"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Finish();
  EXPECT_EQ(job.Windows(), "proof:begin proof:end");
  const auto windows = job.All<wire::Window>();
  EXPECT_EQ(windows[1].records, 20u);
  EXPECT_GT(windows[1].time_ns - windows[0].time_ns, 2'000'000'000u);
  ExpectClean(job);
}

TEST(Inject, NoneEndsAWindowEarlyAndCloseEndsAllOfThem) {
  JobRunner job;
  job.Start({"init", "context", "pace", "2000"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached));
  job.Command(wire::Command::kTimingWindow, 60000);
  ASSERT_TRUE(job.UntilState(wire::State::kTiming));
  job.Command(wire::Command::kNone);
  ASSERT_TRUE(job.UntilState(wire::State::kDetached));
  job.Command(wire::Command::kClose);
  ASSERT_TRUE(job.Until([&] { return job.Header<uint32_t>(wire::kOffsetAckSeq) == 3; }));
  job.Command(wire::Command::kTimingWindow, 1000);
  job.Finish();
  EXPECT_EQ(job.Windows(), "proof:begin proof:end timing:begin timing:end");
  ExpectClean(job);
}

TEST(Inject, PermanentTracingWritesSumsAndNoKernels) {
  JobRunner job;
  job.Set("GPUWHY_TRACE", "permanent");
  job.Start({"init", "context", "copy", "3", "pace", "1500"});
  ASSERT_TRUE(job.UntilState(wire::State::kPermanent));
  EXPECT_EQ(job.Finish(), 0);
  EXPECT_EQ(job.All<wire::Kernel>().size(), 0u);
  uint64_t count = 0;
  uint64_t busy = 0;
  uint64_t total = 0;
  for (const wire::KernelSum& sum : job.All<wire::KernelSum>()) {
    count += sum.count;
    busy += sum.busy_ns;
    total += sum.total_ns;
    EXPECT_EQ(sum.device, 1u);
  }
  EXPECT_EQ(count, 1500u) << "no kernel is lost, the last interval is written at exit";
  EXPECT_EQ(total, 1500u * 1500u);
  EXPECT_LE(busy, total);
  EXPECT_GT(busy, total / 2);
  const auto copies = job.All<wire::MemcpySum>();
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].bytes, 3u * 4096u);
  EXPECT_EQ(copies[0].count, 3u);
  ExpectClean(job);
}

TEST(Inject, ForkedChildIsSilent) {
  JobRunner job;
  job.Set("GPUWHY_TRACE", "permanent");  // no time limit that a slow fork could exceed
  const std::string output = job.Run({"init", "context", "launch", "3", "fork", "launch", "3"});
  EXPECT_EQ(output, "child 0\n");
  uint64_t count = 0;
  for (const wire::KernelSum& sum : job.All<wire::KernelSum>()) count += sum.count;
  EXPECT_EQ(count, 6u) << "three before the fork, three after it, none of the child's hundred";
  EXPECT_EQ(job.RingFiles(), 1u);
  EXPECT_EQ(job.Windows(), "permanent:begin permanent:end");
}

TEST(Inject, FullRingCountsDropsAndNeverWaits) {
  JobRunner job;
  job.Drain(false);
  job.Start({"init", "context", "launch", "10", "waitfile", job.Path("go"), "launch", "200000"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetaching));
  job.Command(wire::Command::kTimingWindow, 60000);
  ASSERT_TRUE(job.UntilState(wire::State::kTiming));
  job.Touch("go");
  EXPECT_EQ(job.Finish(), 0);
  EXPECT_LE(job.Header<uint64_t>(wire::kOffsetHead), 131072u);
  EXPECT_GT(job.Header<uint64_t>(wire::kOffsetDropped), 50000u);
  EXPECT_GT(job.All<wire::Kernel>().size(), 130000u);
  ExpectClean(job);
}

TEST(Inject, LeaseLostClosesForEver) {
  JobRunner job;
  job.Start({"init", "context", "pace", "6000"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached));
  job.Command(wire::Command::kTimingWindow, 60000);
  ASSERT_TRUE(job.UntilState(wire::State::kTiming));
  job.KeepLease(false);
  ASSERT_TRUE(job.UntilState(wire::State::kLeaseLost)) << job.Log();
  job.KeepLease(true);
  job.Command(wire::Command::kTimingWindow, 1000);
  job.Finish();
  EXPECT_EQ(job.Windows(), "proof:begin proof:end timing:begin timing:end");
  EXPECT_EQ(Count(job.Log(), "finalize"), 2u);
  ExpectClean(job);
}

TEST(Inject, NoCudaCallAfterTheWindowLeavesTheDetachArmed) {
  JobRunner job;
  job.Start({"init", "context", "launch", "100", "waitfile", job.Path("go"), "sync", "1", "sleep", "100"});
  ASSERT_TRUE(job.Until([&] { return job.Windows() == "proof:begin proof:end"; })) << job.Windows();
  EXPECT_EQ(job.State(), wire::State::kDetaching);
  EXPECT_FALSE(Has(job.Log(), "finalize"));
  job.Touch("go");
  ASSERT_TRUE(job.UntilState(wire::State::kDetached));
  job.Finish();
  EXPECT_TRUE(Has(job.Log(), "finalize"));
  ExpectClean(job);
}

TEST(Inject, WindowAfterAnArmedDetachReusesTheSubscription) {
  JobRunner job;
  job.Start({"init", "context", "launch", "100", "waitfile", job.Path("go"), "pace", "400"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetaching));
  job.Command(wire::Command::kTimingWindow, 100);
  ASSERT_TRUE(job.UntilState(wire::State::kTiming));
  job.Touch("go");
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Finish();
  EXPECT_EQ(job.Windows(), "proof:begin proof:end timing:begin timing:end");
  EXPECT_EQ(Count(job.Log(), " subscribe"), 1u);
  ExpectClean(job);
}

TEST(Inject, ManyThreadsLoseNothing) {
  JobRunner job;
  job.Set("GPUWHY_TRACE", "permanent");
  job.Run({"init", "context", "threads", "8"});
  uint64_t count = 0;
  for (const wire::KernelSum& sum : job.All<wire::KernelSum>()) count += sum.count;
  EXPECT_EQ(count, 16000u);
  ExpectClean(job);
}

TEST(Inject, SeveralProducersShareTheRing) {
  JobRunner job;
  job.Run({"init", "context", "threads", "4"});
  std::set<uint64_t> sequences;
  for (const wire::Kernel& kernel : job.All<wire::Kernel>()) sequences.insert(kernel.seq);
  EXPECT_EQ(sequences.size(), job.All<wire::Kernel>().size());
  EXPECT_GE(sequences.size(), 2000u);
}

TEST(Inject, KilledJobLeavesAReadableRing) {
  JobRunner job;
  job.Start({"init", "context", "launch", "5000", "sleep", "400", "quit", "0"});
  EXPECT_EQ(job.Finish(), 0);
  EXPECT_GE(job.All<wire::Kernel>().size(), 2000u);
  EXPECT_EQ(job.Header<uint32_t>(wire::kOffsetClosed), 0u);
}

}  // namespace
}  // namespace gpuwhy::inject_test
