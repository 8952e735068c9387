// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// Which CUPTI the library takes, what it does with an old one, and when it stands aside.
#include "expect.h"

namespace gpuwhy::inject_test {
namespace {

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
  for (const char* variable : {"KINETO_USE_DAEMON", "NSYS_PROFILING_SESSION_ID", "NV_NSIGHT_INJECTION_PORT_BASE",
                               "NVTX_INJECTION64_PATH", "NV_SANITIZER_INJECTION_PORT_BASE"}) {
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
  for (const Words& begin :
       {Words{"init", "context", "graph", "5"}, Words{"init", "context", "capture", "launch", "5"}}) {
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

// A graph replayed after cuptiFinalize fails (seen with CUPTI 13.0.1): such a process is only left, windows go on.
TEST(Inject, GraphWithNewCuptiIsNeverFinalised) {
  for (const Words& begin :
       {Words{"init", "context", "graph", "5"}, Words{"init", "context", "capture", "launch", "5"}}) {
    JobRunner job;
    Words words = begin;
    words.insert(words.end(), {"pace", "1500"});
    job.Start(words);
    ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
    job.Command(wire::Command::kTimingWindow, 100);
    ASSERT_TRUE(job.Until([&] { return job.Header<uint32_t>(wire::kOffsetAckSeq) == 1; }));
    ASSERT_TRUE(job.UntilState(wire::State::kDetached)) << job.Log();
    job.Finish();
    EXPECT_EQ(job.Windows(), "proof:begin proof:end timing:begin timing:end");
    EXPECT_FALSE(Has(job.Log(), "finalize"));
    EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kFactsJson), "cuda.left_behind"));
    ExpectClean(job);
  }
}

// Driver versions of CUDA 11 in these, so that a CUPTI installed on the test machine is no way out.
TEST(Inject, CuptiOfANewerMajorVersionIsNotEvenLoaded) {
  JobRunner job;
  job.Set("FAKE_CUDA_VERSION", "11080");
  job.Run({"init", "context", "launch", "50"});
  EXPECT_EQ(job.State(), wire::State::kFailed);
  EXPECT_EQ(job.Log(), "");
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), "nvidia-cuda-cupti-cu11"))
      << job.Blobs(wire::BlobKind::kGapJson);
}

TEST(Inject, CuptiOfANewerMinorVersionIsNotUsed) {
  JobRunner job("11");
  job.Set("FAKE_CUDA_VERSION", "11010");
  job.Run({"init", "context", "launch", "50"});
  EXPECT_EQ(job.State(), wire::State::kFailed);
  EXPECT_EQ(job.Log(), "");
  EXPECT_TRUE(Has(job.Blobs(wire::BlobKind::kGapJson), "made for CUDA 11020, the driver offers 11010"))
      << job.Blobs(wire::BlobKind::kGapJson);
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

TEST(Inject, CloseFreesCuptiForTheJobsProfiler) {
  for (const Words& before : {Words{"init"}, Words{"init", "context"}, Words{"init", "context", "launch", "50"},
                              Words{"init", "context", "pace", "500"}}) {
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

}  // namespace
}  // namespace gpuwhy::inject_test
