// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// The injection library on its real loading path: fake driver -> CUDA_INJECTION64_PATH -> fake CUPTI.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <set>

#include "job_runner.h"

namespace gpuwhy::inject_test {
namespace {

using ::testing::Test;
using Words = std::vector<std::string>;

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Every test ends with this: the strict fake saw nothing forbidden.
void ExpectClean(const JobRunner& job) { EXPECT_FALSE(Has(job.Log(), "violation")) << job.Log(); }

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

TEST(Inject, RefusedCallsAreAGapAndOtherWindowsFollow) {
  JobRunner job;
  job.Set("FAKE_CUPTI_REFUSE_CALLS", "1");
  job.Start({"init", "context", "pace", "2000"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Command(wire::Command::kSyncWindow, 100);
  ASSERT_TRUE(job.Until([&] { return job.Header<uint32_t>(wire::kOffsetAckSeq) == 1; }));
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Command(wire::Command::kTimingWindow, 100);
  ASSERT_TRUE(job.UntilState(wire::State::kTiming));
  job.Finish();
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), "cannot record single API calls"));
  EXPECT_EQ(job.Windows(), "proof:begin proof:end sync:begin sync:end timing:begin timing:end");
  EXPECT_NE(job.All<wire::Window>()[3].status, 0);
  EXPECT_EQ(job.All<wire::Api>().size(), 0u);
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

TEST(Inject, RefusedSubscriptionNamesTheHolder) {
  JobRunner job;
  job.Set("FAKE_CUPTI_REFUSE", "Nsight Systems");
  job.Run({"init", "context", "launch", "50"});
  EXPECT_EQ(job.State(), wire::State::kSteppedAside);
  EXPECT_EQ(job.All<wire::Kernel>().size(), 0u);
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "\"cuda.other_subscriber\":\"Nsight Systems\""));
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), "Nsight Systems"));
  EXPECT_FALSE(Has(job.Log(), "enable"));
  ExpectClean(job);
}

TEST(Inject, OtherToolsInTheEnvironment) {
  for (const char* variable : {"KINETO_USE_DAEMON", "NSYS_PROFILING_SESSION_ID", "NV_NSIGHT_INJECTION_PORT_BASE", "NVTX_INJECTION64_PATH",
                               "NV_SANITIZER_INJECTION_PORT_BASE"}) {
    JobRunner job;
    job.Set(variable, "1");
    job.Run({"init", "context", "launch", "50"});
    EXPECT_EQ(job.State(), wire::State::kSteppedAside) << variable;
    EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), variable));
    EXPECT_EQ(job.Log(), "") << "CUPTI must not even be asked";
  }
}

TEST(Inject, UserSettingOfNsightIsNoTool) {
  JobRunner job;
  job.Set("NSYS_CONFIG_DIRECTIVES", "x=y");
  job.Run({"init", "context", "launch", "5"});
  EXPECT_EQ(job.All<wire::Kernel>().size(), 5u);
}

TEST(Inject, SwitchedOffAndUnset) {
  JobRunner disabled;
  disabled.Set("GPUWHY_DISABLE", "1");
  disabled.Run({"init", "context", "launch", "50"});
  EXPECT_EQ(disabled.RingFiles(), 0u);
  EXPECT_EQ(disabled.Log(), "");
  JobRunner no_spool;
  no_spool.Set("GPUWHY_SPOOL", "");
  no_spool.Run({"init", "context", "launch", "50"});
  EXPECT_EQ(no_spool.Log(), "");
  JobRunner bad_spool;
  bad_spool.Set("GPUWHY_SPOOL", "/nonexistent/spool");
  EXPECT_EQ(bad_spool.Run({"init", "context", "launch", "50"}), "") << "never prints";
  JobRunner off;
  off.Set("GPUWHY_TRACE", "off");
  off.Run({"init", "context", "launch", "50"});
  EXPECT_EQ(off.State(), wire::State::kSteppedAside);
  EXPECT_TRUE(Has(off.Blobs(wire::BlobKind::kGapJson), "GPUWHY_TRACE=off"));
}

TEST(Inject, OldCuptiIsReadThroughItsOwnLayoutAndNotFinalised) {
  JobRunner job("11");
  job.Set("FAKE_CUDA_VERSION", "11040");
  job.Start({"init", "context", "pace", "2500"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Command(wire::Command::kTimingWindow, 100);
  ASSERT_TRUE(job.UntilState(wire::State::kTiming)) << job.Log();
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Command(wire::Command::kSyncWindow, 100);
  ASSERT_TRUE(job.Until([&] { return job.Header<uint32_t>(wire::kOffsetAckSeq) == 2; }));
  job.Finish();
  EXPECT_EQ(job.Windows(), "proof:begin proof:end timing:begin timing:end sync:begin sync:end");
  EXPECT_GT(job.All<wire::Api>().size(), 10u) << "single callbacks are as old as CUPTI";
  const auto kernels = job.All<wire::Kernel>();
  ASSERT_GT(kernels.size(), 40u);
  // CUPTI's own clock there is CLOCK_REALTIME: the two-point mapping must bring it back.
  EXPECT_GT(kernels[0].start_ns, job.Header<uint64_t>(wire::kOffsetCreatedNs));
  EXPECT_LT(kernels[0].start_ns, kernels[0].time_ns + 1'000'000);
  EXPECT_EQ(kernels[0].duration_ns, 1500u);
  EXPECT_FALSE(Has(job.Log(), "finalize"));
  EXPECT_EQ(Count(job.Log(), "unsubscribe"), 3u);
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "cuda.left_behind"));
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "cuda.clock_error_ns"));
  ExpectClean(job);
}

TEST(Inject, GraphPaddingOf110IsNoGraph) {
  JobRunner job("110");
  job.Set("FAKE_CUDA_VERSION", "11000");
  job.Run({"init", "context", "launch", "2", "graph", "1"});
  const auto kernels = job.All<wire::Kernel>();
  ASSERT_EQ(kernels.size(), 3u) << job.Log();
  EXPECT_EQ(kernels[0].graph, 0u);
  EXPECT_EQ(kernels[2].graph, 1u);
}

TEST(Inject, GraphWithOldCuptiMeansOneWindow) {
  for (const Words& begin : {Words{"init", "context", "graph", "5"}, Words{"init", "context", "capture", "launch", "5"}}) {
    JobRunner job("11");
    job.Set("FAKE_CUDA_VERSION", "11040");
    Words words = begin;
    words.insert(words.end(), {"pace", "1000"});
    job.Start(words);
    ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
    job.Command(wire::Command::kTimingWindow, 100);
    ASSERT_TRUE(job.Until([&] { return job.Header<uint32_t>(wire::kOffsetAckSeq) == 1; }));
    job.Finish();
    EXPECT_EQ(job.Windows(), "proof:begin proof:end");
    EXPECT_FALSE(Has(job.Log(), "finalize"));
    EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "cuda.graph_with_old_cupti"));
    ExpectClean(job);
  }
}

TEST(Inject, GraphWithNewCuptiIsFinalised) {
  JobRunner job;
  job.Start({"init", "context", "graph", "5", "pace", "500"});
  ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
  job.Finish();
  EXPECT_TRUE(Has(job.Log(), "finalize"));
  EXPECT_EQ(job.All<wire::Kernel>()[0].graph, 1u);
  ExpectClean(job);
}

// Driver versions of CUDA 11 in these, so that a CUPTI installed on the test machine is no way out.
TEST(Inject, CuptiOfANewerMajorVersionIsNotEvenLoaded) {
  JobRunner job;
  job.Set("FAKE_CUDA_VERSION", "11080");
  job.Run({"init", "context", "launch", "50"});
  EXPECT_EQ(job.State(), wire::State::kFailed);
  EXPECT_EQ(job.Log(), "");
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), "nvidia-cuda-cupti-cu11")) << job.Blobs(wire::BlobKind::kGapJson);
}

TEST(Inject, CuptiOfANewerMinorVersionIsNotUsed) {
  JobRunner job("11");
  job.Set("FAKE_CUDA_VERSION", "11010");
  job.Run({"init", "context", "launch", "50"});
  EXPECT_EQ(job.State(), wire::State::kFailed);
  EXPECT_EQ(job.Log(), "");
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), "made for CUDA 11020, the driver offers 11010")) << job.Blobs(wire::BlobKind::kGapJson);
}

TEST(Inject, CuptiWithoutAFunctionIsNotUsed) {
  JobRunner job("broken");
  job.Set("FAKE_CUDA_VERSION", "11040");
  job.Run({"init", "context", "launch", "50"});
  EXPECT_EQ(job.State(), wire::State::kFailed);
  EXPECT_EQ(job.Log(), "");
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), "lacks cuptiFinalize")) << job.Blobs(wire::BlobKind::kGapJson);
}

TEST(Inject, RefusedActivityIsAGapAndTheJobRunsOn) {
  JobRunner job;
  job.Set("FAKE_CUPTI_FAIL_ENABLE", "35");
  job.Start({"init", "context", "pace", "200"});
  EXPECT_EQ(job.Finish(), 0);
  EXPECT_EQ(job.State(), wire::State::kFailed);
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), "answered 35"));
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), "RestrictProfilingToAdminUsers"));
  EXPECT_TRUE(Has(job.Log(), "finalize"));
  ExpectClean(job);
}

TEST(Inject, DamagedRecordsAreCountedAndDropped) {
  JobRunner job;
  job.Set("FAKE_CUPTI_GARBAGE", "1");
  job.Run({"init", "context", "launch", "10"});
  const auto kernels = job.All<wire::Kernel>();
  EXPECT_EQ(kernels.size(), 20u) << "ten good ones and ten without a name, none that ends before it starts";
  EXPECT_EQ(kernels[1].name, 0u);
  EXPECT_EQ(kernels[1].blocks, 0u);
  EXPECT_EQ(kernels[1].device, 0xffffu);
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "\"cuda.malformed_records\":20"));
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

TEST(Inject, CloseFreesCuptiForTheJobsProfiler) {
  for (const Words& before : {Words{"init"}, Words{"init", "context"}, Words{"init", "context", "launch", "50"}, Words{"init", "context", "pace", "500"}}) {
    JobRunner job;
    Words words = before;
    words.insert(words.end(), {"close", "2000", "profiler", "context", "launch", "50", "sleep", "50"});
    const std::string output = job.Run(words);
    EXPECT_EQ(output, "close 0\nprofiler 0\n");
    EXPECT_EQ(job.State(), wire::State::kDetached);
    EXPECT_EQ(Count(job.Log(), "finalize"), 1u) << job.Log();
    ExpectClean(job);
  }
}

TEST(Inject, CloseWithOldCuptiUnsubscribes) {
  JobRunner job("11");
  job.Set("FAKE_CUDA_VERSION", "11040");
  job.Set("FAKE_CUPTI_PATH", std::string(FAKES_DIR) + "/11/libcupti.so.11.2");
  const std::string output = job.Run({"init", "context", "graph", "50", "close", "2000", "profiler", "launch", "50"});
  EXPECT_EQ(output, "close 0\nprofiler 0\n");
  EXPECT_FALSE(Has(job.Log(), "finalize"));
  ExpectClean(job);
}

TEST(Inject, ProfilerOfTheJobFirst) {
  JobRunner job;
  const std::string output = job.Run({"profiler", "init", "context", "launch", "50"});
  EXPECT_EQ(output, "profiler 0\n");
  EXPECT_EQ(job.State(), wire::State::kSteppedAside);
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "CUPTI for somebody"));
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "\"cuda.cupti.was_mapped\":1"));
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
