// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include "unit/nvml_test_run.h"
#include "witness/nvml/nvml_counters.h"
#include "witness/nvml/nvml_errors.h"
#include "witness/nvml/nvml_sleep.h"

namespace gpuwhy {
namespace {

TEST(NvmlProcesses, GarbageUtilisationNeverBecomesAReading) {
  NvmlRun run("garbage_utilization", 540);
  run.Watch(1.2);  // two seconds' ticks: the entries, then "nothing newer"
  run.Stop(1.4);
  const Entity liar = Entity::ProcessOnGpu(539, kH200.id), honest = Entity::ProcessOnGpu(540, kH200.id);
  for (const double value : run.Values("process.gpu.sm.ratio", liar)) EXPECT_LE(value, 1.0);
  EXPECT_DOUBLE_EQ(run.Values("process.gpu.sm.ratio", liar).front(), 0.42);  // the one entry that can be true
  for (const double value : run.Values("process.gpu.sm.ratio", honest)) EXPECT_EQ(value, 0);
  EXPECT_TRUE(run.Values("process.gpu.sm.ratio", Entity::ProcessOnGpu(99999, kH200.id)).empty());
  EXPECT_GE(*run.Get("gpu.process_utilization.discarded", kH200).AsInt(), 4);
}

TEST(NvmlProcesses, HundredsOfProcessesFit) {
  NvmlRun run("many_processes", 10007);
  run.Watch(0.4);
  EXPECT_EQ(run.Values("gpu.processes.count", kH200).front(), 300);
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", Entity::ProcessOnGpu(10299, kH200.id)).front(), 300 * 1048576.0);
  // In two lists with the same memory: counted once.
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", Entity::ProcessOnGpu(10000, kH200.id)).front(), 1048576.0);
  EXPECT_EQ(run.Get("process.gpu.type", Entity::ProcessOnGpu(10000, kH200.id)).AsText(), "C+G");
}

TEST(NvmlProcesses, ForeignProcessesAreRepeatedSeldom) {
  NvmlRun run("many_processes", 10007);
  run.Watch(5);
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", Entity::ProcessOnGpu(10299, kH200.id)).size(), 1U);
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", Entity::ProcessOnGpu(10007, kH200.id)).size(), 5U);
}

TEST(NvmlProcesses, ListWithTheExtraFieldOf535IsReadInStep) {
  NvmlRun run("driver_535", 222, "-535");
  run.Watch(0.4);
  EXPECT_EQ(run.Values("gpu.processes.count", kH200).front(), 3);
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", Entity::ProcessOnGpu(222, kH200.id)).front(), 2000000);
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", Entity::ProcessOnGpu(333, kH200.id)).front(), 3000000);
}

TEST(NvmlProcesses, ForeignNumberingOfPidsIsSeen) {
  // 300 PIDs of a list that are no process here, seen twice.
  NvmlRun run("many_processes", getpid());
  run.Watch(2.4);
  const Value own = run.Get("driver.process_list.own_namespace");
  EXPECT_TRUE(!own.known() || own.AsBool() == false);
  EXPECT_TRUE(own.known() || access("/proc/1/stat", F_OK) != 0);
}

TEST(NvmlOldDriver, OlderFunctionsAnswer) {
  const Entity gpu = Entity::Gpu("GPU-00000000-0000-0000-0000-0000000000a0");
  NvmlRun run("old_driver", 321, "-old");
  run.Watch(2.2);
  EXPECT_EQ(run.Get("gpu.bus_id", gpu).AsText(), "0000:01:00.0");
  EXPECT_EQ(run.Get("gpu.memory.total.bytes", gpu).AsInt(), 8510701568);
  EXPECT_EQ(run.Get("gpu.memory.reserved.bytes", gpu).state, State::kUnsupported);
  EXPECT_EQ(run.Get("gpu.gpm.supported", gpu).state, State::kUnsupported);
  EXPECT_EQ(run.Get("gpu.mig.mode", gpu).state, State::kUnsupported);
  EXPECT_EQ(run.Values("gpu.memory.used.bytes", gpu).front(), 1073741824);
  EXPECT_EQ(run.Values("gpu.temperature.celsius", gpu).front(), 70);
  EXPECT_EQ(run.Values("gpu.throttle.power.seconds", gpu).front(), 1.5);
  EXPECT_EQ(run.Values("gpu.throttle.sw_thermal.seconds", gpu).front(), 0.25);
  EXPECT_EQ(run.Get("gpu.throttle.hw_power_brake.seconds", gpu).state, State::kUnsupported);
  const Entity job = Entity::ProcessOnGpu(321, gpu.id);
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", job).front(), 1000000000);
  EXPECT_DOUBLE_EQ(run.Values("process.gpu.sm.ratio", job).front(), 0.77);
  const StringList missing = *run.Get("driver.nvml.missing_functions").AsList();
  EXPECT_NE(std::find(missing.begin(), missing.end(), "nvmlDeviceGetFieldValues"), missing.end());
}

TEST(NvmlOddGpu, SharedMemoryIsNotZeroMemory) {
  NvmlRun run("unified_memory", 77);
  run.Watch(0.4);
  EXPECT_EQ(run.Get("gpu.memory.total.bytes", kH200).state, State::kUnsupported);
  EXPECT_EQ(run.Get("gpu.memory.used.bytes", kH200).state, State::kUnsupported);
  EXPECT_TRUE(run.Values("gpu.memory.used.bytes", kH200).empty());
  EXPECT_EQ(run.Get("gpu.name", kH200).AsText(), "NVIDIA GB10 测试");
}

TEST(NvmlOddGpu, NoGpuIsACountOfZero) {
  NvmlRun run("no_gpu", 77);
  run.Watch(1.2);
  run.Stop(1.4);
  EXPECT_EQ(run.Get("driver.nvml.ok").AsBool(), true);
  EXPECT_EQ(run.Get("driver.gpu_count").AsInt(), 0);
}

TEST(NvmlSleep, SnapshotLeavesASleepingGpuAlone) {
  NvmlRun run("h200_idle");
  run.PutOnBus("0000:00:06.0", "suspended");
  const unsigned long before = run.Calls();
  run.Watch(2.2);
  run.Stop(2.4);
  EXPECT_EQ(run.Calls(), before);
  EXPECT_EQ(run.Get("driver.nvml.skipped").AsText(), "gpu-asleep");
  EXPECT_EQ(run.Get("gpu.asleep", Entity::Gpu("00000000:00:06.0")).AsBool(), true);
}

TEST(NvmlSleep, OneThatWakesIsWatchedFromThenOn) {
  NvmlRun run("h200_idle", 77);
  run.PutOnBus("0000:00:06.0", "suspended");
  run.Watch(1.2);
  EXPECT_TRUE(run.Values("gpu.power.watts", kH200).empty());
  run.PutOnBus("0000:00:06.0", "active");
  for (double time_s = 2.2; time_s < 3; time_s += 0.2) run.Poll(time_s);
  EXPECT_FALSE(run.Values("gpu.power.watts", kH200).empty());
  EXPECT_EQ(run.Get("gpu.name", kH200).AsText(), "NVIDIA H200");
}

TEST(NvmlSleep, BusIdsAreWrittenAsNvmlDoes) {
  EXPECT_EQ(nvml::NvmlBusId("0000:0a:00.0"), "00000000:0A:00.0");
  EXPECT_EQ(nvml::NvmlBusId("10000:e1:00.0"), "00010000:E1:00.0");
}

// The same ids mean power smoothing in other branches: a wrong row shows nonsense without an error.
TEST(NvmlCounters, ThrottleFieldsFollowTheBranchOfTheDriver) {
  EXPECT_FALSE(nvml::ThrottleFieldsOf("570.86.15").has_value());
  EXPECT_EQ(nvml::ThrottleFieldsOf("575.57.08")->sw_thermal, 251U);
  EXPECT_EQ(nvml::ThrottleFieldsOf("580.65.06")->sw_thermal, 251U);
  EXPECT_FALSE(nvml::ThrottleFieldsOf("580.76.05").has_value());
  EXPECT_EQ(nvml::ThrottleFieldsOf("580.82.07")->sw_thermal, 269U);
  EXPECT_EQ(nvml::ThrottleFieldsOf("580.159.04")->power_brake, 271U);
  EXPECT_EQ(nvml::ThrottleFieldsOf("610.62")->hw_thermal, 270U);
  EXPECT_FALSE(nvml::ThrottleFieldsOf("").has_value());
}

TEST(NvmlErrors, CodesBecomeStatesAndWords) {
  EXPECT_EQ(nvml::StateOf(0), State::kValue);
  EXPECT_EQ(nvml::StateOf(3), State::kUnsupported);
  EXPECT_EQ(nvml::StateOf(4), State::kNoPermission);
  EXPECT_EQ(nvml::StateOf(6), State::kNotFound);
  EXPECT_EQ(nvml::StateOf(13), State::kUnsupported);
  EXPECT_EQ(nvml::StateOf(17), State::kNoPermission);
  EXPECT_EQ(nvml::StateOf(25), State::kUnsupported);
  EXPECT_EQ(nvml::StateOf(4711), State::kUnknown);
  EXPECT_NE(nvml::Explain(4711).find("4711"), std::string::npos);
  EXPECT_FALSE(nvml::Advice(18).empty());
}

}  // namespace
}  // namespace gpuwhy
