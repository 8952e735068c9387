// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/job_environment.h"

#include <gtest/gtest.h>

namespace gpuwhy {
namespace {

const Injection kInjection{"/tmp/s", "/tmp/s/agent", "/tmp/s/lib/libgpuwhy_inject.so", "window"};

EnvironmentChanges Changes(const std::vector<std::string>& own, const Injection& injection = kInjection) {
  return MakeJobEnvironment(own, injection).changes;
}

TEST(JobEnvironmentTest, SetsTheFourVariablesAndNoOther) {
  const EnvironmentChanges expected{{"GPUWHY_SPOOL", "/tmp/s"},
                                    {"GPUWHY_TRACE", "window"},
                                    {"PYTHONPATH", "/tmp/s/agent"},
                                    {"CUDA_INJECTION64_PATH", "/tmp/s/lib/libgpuwhy_inject.so"}};
  const JobEnvironment result = MakeJobEnvironment({"HOME=/root", "PATH=/bin"}, kInjection);
  EXPECT_EQ(result.changes, expected);
  EXPECT_TRUE(result.gaps.empty());
}

TEST(JobEnvironmentTest, KeepsTheUsersPythonPathBehindOurs) {
  EXPECT_EQ(Changes({"PYTHONPATH=/a::/b"})["PYTHONPATH"], "/tmp/s/agent:/a::/b");
  EXPECT_EQ(Changes({"PYTHONPATH=:"})["PYTHONPATH"], "/tmp/s/agent::");
  // An empty value means "not set": a trailing colon would add the working directory.
  EXPECT_EQ(Changes({"PYTHONPATH="})["PYTHONPATH"], "/tmp/s/agent");
  EXPECT_EQ(Changes({"XPYTHONPATH=/a"})["PYTHONPATH"], "/tmp/s/agent");
}

TEST(JobEnvironmentTest, DisableSwitchesEverythingOff) {
  const JobEnvironment result = MakeJobEnvironment({"GPUWHY_DISABLE=1"}, kInjection);
  EXPECT_TRUE(result.changes.empty());
  ASSERT_EQ(result.gaps.size(), 1u);
  EXPECT_FALSE(Changes({"GPUWHY_DISABLE=0"}).empty());
}

TEST(JobEnvironmentTest, StepsAsideForEveryOtherCudaTool) {
  const std::pair<const char*, const char*> cases[] = {
      {"CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so", "libToolsInjection64.so"},
      {"KINETO_USE_DAEMON=1", "Kineto"},
      {"NSYS_PROFILING_SESSION_ID=12", "Nsight Systems"},
      {"NV_COMPUTE_PROFILER_PERFWORKS_DIR=/opt", "Nsight Compute"},
      {"NV_SANITIZER_INJECTION_PORT_BASE=49152", "compute-sanitizer"},
      {"NV_NSIGHT_INJECTION_TRANSPORT_TYPE=uds", "Nsight"},
  };
  for (const auto& [entry, name] : cases) {
    const JobEnvironment result = MakeJobEnvironment({entry}, kInjection);
    EXPECT_EQ(result.changes.count("CUDA_INJECTION64_PATH"), 0u) << entry;
    EXPECT_EQ(result.changes.count("PYTHONPATH"), 1u) << entry;
    ASSERT_EQ(result.gaps.size(), 1u) << entry;
    EXPECT_NE(result.gaps[0].why.find(name), std::string::npos) << result.gaps[0].why;
  }
}

TEST(JobEnvironmentTest, WhatOnlyLooksLikeAnotherToolChangesNothing) {
  for (const char* entry :
       {"KINETO_USE_DAEMON=0", "KINETO_USE_DAEMON=", "CUDA_INJECTION64_PATH=", "NSYS_PATH=/usr/bin/nsys",
        "CUDA_INJECTION64_PATH=/run/user/1/gpuwhy-1-x/lib/libgpuwhy_inject.so"}) {
    EXPECT_EQ(Changes({entry})["CUDA_INJECTION64_PATH"], kInjection.library) << entry;
  }
}

TEST(JobEnvironmentTest, TakesOnlyWhatIsThere) {
  EXPECT_TRUE(Changes({}, {}).empty());
  EXPECT_EQ(Changes({}, {"/tmp/s", "", "", "off"}),
            (EnvironmentChanges{{"GPUWHY_SPOOL", "/tmp/s"}, {"GPUWHY_TRACE", "off"}}));
  EXPECT_EQ(Changes({}, {"/tmp/s", "", "/tmp/s/l.so", "off"}).count("CUDA_INJECTION64_PATH"), 0u);
  const JobEnvironment colon = MakeJobEnvironment({}, {"/a:b", "/a:b/agent", "", "window"});
  EXPECT_EQ(colon.changes.count("PYTHONPATH"), 0u);
  EXPECT_EQ(colon.gaps.size(), 1u);
}

}  // namespace
}  // namespace gpuwhy
