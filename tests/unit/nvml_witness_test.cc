// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include "model/metric.h"
#include "unit/nvml_test_run.h"

namespace gpuwhy {
namespace {

TEST(NvmlWitness, TellsWhatAHealthyGpuIs) {
  NvmlRun run("h200_idle");
  run.Start();
  EXPECT_EQ(run.Get("driver.nvml.ok").AsBool(), true);
  EXPECT_EQ(run.Get("driver.version").AsText(), "580.159.04");
  EXPECT_EQ(run.Get("driver.cuda_version").AsText(), "13.0");
  EXPECT_EQ(run.Get("driver.gpu_count").AsInt(), 1);
  EXPECT_NE(run.Get("driver.nvml.path").AsText()->find("libnvidia-ml-fake.so"), std::string::npos);
  EXPECT_EQ(run.Get("gpu.name", kH200).AsText(), "NVIDIA H200");
  EXPECT_EQ(run.Get("gpu.bus_id", kH200).AsText(), "00000000:00:06.0");
  EXPECT_EQ(run.Get("gpu.index", kH200).AsInt(), 0);
  EXPECT_EQ(run.Get("gpu.compute_capability", kH200).AsText(), "9.0");
  EXPECT_EQ(run.Get("gpu.memory.total.bytes", kH200).AsInt(), 150754820096);
  EXPECT_EQ(run.Get("gpu.memory.reserved.bytes", kH200).AsInt(), 645922816);
  EXPECT_EQ(run.Get("gpu.mig.mode", kH200).AsBool(), false);
  EXPECT_EQ(run.Get("gpu.compute_mode", kH200).AsText(), "default");
  EXPECT_EQ(run.Get("gpu.power.limit.watts", kH200).AsDouble(), 700);
  EXPECT_EQ(run.Get("gpu.clock.sm.max.hertz", kH200).AsDouble(), 1980e6);
  EXPECT_EQ(run.Get("gpu.pcie.generation.max", kH200).AsInt(), 5);
  EXPECT_EQ(run.Get("gpu.gpm.supported", kH200).AsBool(), true);
  EXPECT_EQ(run.Get("gpu.lost", kH200).AsBool(), false);
}

TEST(NvmlWitness, KeepsWhatIsNotSupportedApartFromZero) {
  NvmlRun run("h200_idle");
  run.Start();
  const Value model = run.Get("gpu.driver_model", kH200);
  EXPECT_EQ(model.state, State::kUnsupported);
  EXPECT_NE(model.why.find("NVML 3"), std::string::npos);
  EXPECT_EQ(run.Get("gpu.ecc.corrected", kH200).AsInt(), 0);  // a real zero
}

TEST(NvmlWitness, SamplesABusyGpuInBaseUnits) {
  NvmlRun run("h200_busy", 539);
  run.Watch(3.2);
  const std::vector<double> use = run.Values("gpu.utilization.ratio", kH200);
  ASSERT_EQ(use.size(), 16U);
  EXPECT_GT(*std::max_element(use.begin(), use.end()), 0.05);
  EXPECT_LE(*std::max_element(use.begin(), use.end()), 1.0);
  EXPECT_NEAR(run.Values("gpu.power.watts", kH200).front(), 80, 20);
  EXPECT_GE(run.Values("gpu.clock.sm.hertz", kH200).front(), 300e6);
  EXPECT_EQ(run.Values("gpu.clock.memory.hertz", kH200).front(), 3201e6);
  EXPECT_EQ(run.Values("gpu.pstate", kH200).front(), 0);
  const Entity process = Entity::ProcessOnGpu(539, kH200.id);
  EXPECT_EQ(run.Get("process.gpu.listed", process).AsBool(), true);
  EXPECT_EQ(run.Get("process.gpu.type", process).AsText(), "C");
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", process).front(), 7830765568.0);
  const std::vector<double> sm = run.Values("process.gpu.sm.ratio", process);
  ASSERT_GE(sm.size(), 3U);
  EXPECT_DOUBLE_EQ(sm[0], 0.56);
  EXPECT_DOUBLE_EQ(sm[1], 0.65);
  EXPECT_EQ(run.Get("driver.process_list.own_namespace").AsBool(), true);
}

TEST(NvmlWitness, EveryMetricItSendsIsInTheTable) {
  NvmlRun run("h200_busy", 539);
  run.Watch(3.2);
  const Evidence& evidence = run.evidence;
  size_t known = 0;
  for (const Metric& metric : Metrics()) {
    if (!evidence.EntitiesWith(metric.name).empty()) ++known;
  }
  EXPECT_GE(known, 22U);
  EXPECT_NE(FindMetric("gpu.processes.count"), nullptr);
}

TEST(NvmlWitness, ReadsHardwareCountersBetweenTwoTicks) {
  NvmlRun run("h200_busy", 539);
  run.Watch(1.0);
  EXPECT_TRUE(run.Values("gpu.gpm.sm.ratio", kH200).empty());  // one sample is no reading
  for (double time_s = 1.2; time_s <= 3.3; time_s += 0.2) run.Poll(time_s);
  ASSERT_EQ(run.Values("gpu.gpm.sm.ratio", kH200).size(), 3U);  // at 1.2, 2.2 and 3.2 s
  EXPECT_NEAR(run.Values("gpu.gpm.sm.ratio", kH200)[0], 0.912, 1e-9);
  EXPECT_NEAR(run.Values("gpu.gpm.tensor.ratio", kH200)[0], 0.269, 1e-9);
  EXPECT_NEAR(run.Values("gpu.pcie.rx.bytes_per_second", kH200)[0], 54.7 * 1048576, 1);
}

TEST(NvmlWitness, SnapshotShowsTheLastSecondsAndTakesNoGpmSample) {
  NvmlRun run("h200_busy");
  run.Start();
  const Series& history = run.evidence.Samples("gpu.utilization.ratio", kH200);
  ASSERT_EQ(history.size(), 5U);
  EXPECT_NEAR(history.front().time_s, -1.0, 0.2);
  EXPECT_NEAR(history.back().time_s, -0.2, 0.2);
  EXPECT_DOUBLE_EQ(history[3].value, 1.0);
  run.Poll(0.0);
  EXPECT_TRUE(run.evidence.Samples("gpu.gpm.sm.ratio", kH200).empty());
}

TEST(NvmlWitness, CountersGrowAndBecomeSeconds) {
  NvmlRun run("h200_busy", 539);
  run.Watch(3.2);
  const std::vector<double> energy = run.Values("gpu.energy.joules", kH200);
  ASSERT_GE(energy.size(), 3U);
  EXPECT_NEAR(energy[1] - energy[0], 400, 1e-6);
  EXPECT_EQ(run.Values("gpu.throttle.hw_thermal.seconds", kH200).front(), 0);
}

// Recorded from the real library, so that the fake cannot be kinder than it.
TEST(NvmlWitness, ReplaysTheRecordingOfAStarvedTraining) {
  NvmlRun run("h200_recorded_starved", 892);
  run.Watch(4.0);
  const std::vector<double> duty = run.Values("gpu.utilization.ratio", kH200);
  ASSERT_GE(duty.size(), 20U);
  EXPECT_GT(*std::max_element(duty.begin(), duty.end()), 0);
  EXPECT_LE(*std::max_element(duty.begin(), duty.end()), 0.26);  // the highest of the driver's own history
  EXPECT_NEAR(run.Values("gpu.power.watts", kH200).front(), 130, 10);
  const Entity process = Entity::ProcessOnGpu(892, kH200.id);
  EXPECT_EQ(run.Get("process.gpu.type", process).AsText(), "C");
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", process).front(), 12182355968.0);
  const std::vector<double> sm = run.Values("process.gpu.sm.ratio", process);
  ASSERT_FALSE(sm.empty());
  EXPECT_LE(*std::max_element(sm.begin(), sm.end()), 0.03);
  ASSERT_GE(run.Values("gpu.gpm.sm.ratio", kH200).size(), 2U);
  EXPECT_NEAR(run.Values("gpu.gpm.sm.ratio", kH200).front(), 0.0076, 1e-4);
  EXPECT_NEAR(run.Values("gpu.energy.joules", kH200).front(), 9866, 1);
  // Ids 251 to 253 of the throttle counters answer "not supported" on this driver, 269 to 271 a number.
  EXPECT_EQ(run.Values("gpu.throttle.hw_thermal.seconds", kH200).front(), 0);
}

TEST(NvmlWitness, ReplaysTheRecordingOfAnIdleGpu) {
  NvmlRun run("h200_recorded_idle");
  run.Watch(3.2);
  const std::vector<double> duty = run.Values("gpu.utilization.ratio", kH200);
  ASSERT_FALSE(duty.empty());
  EXPECT_EQ(duty.back(), 0);  // the driver's buffer still holds seconds of the job before
  EXPECT_TRUE(run.evidence.EntitiesWith("process.gpu.memory.bytes").empty());
  EXPECT_EQ(run.Get("gpu.driver_model", kH200).state, State::kUnsupported);
}

TEST(NvmlWitness, MigSaysWhatItCannotSee) {
  NvmlRun run("mig", 700);
  run.Watch(2.2);
  EXPECT_EQ(run.Get("gpu.mig.mode", kH200).AsBool(), true);
  EXPECT_EQ(run.Get("gpu.mig.instances", kH200).AsList()->size(), 2U);
  EXPECT_EQ(run.Get("gpu.utilization.ratio", kH200).state, State::kUnsupported);
  EXPECT_EQ(run.Get("process.gpu.sm.ratio", kH200).state, State::kUnsupported);
  EXPECT_EQ(run.Get("gpu.gpm.sm.ratio", kH200).state, State::kUnsupported);
  EXPECT_TRUE(run.Values("gpu.utilization.ratio", kH200).empty());
  EXPECT_EQ(run.Values("gpu.power.watts", kH200).front(), 433);
  // One process on two slices: its memory adds up.
  EXPECT_EQ(run.Values("process.gpu.memory.bytes", Entity::ProcessOnGpu(700, kH200.id)).front(), 3221225472.0);
}

TEST(NvmlWitness, TellsWhetherAVgpuHasItsLicence) {
  const Entity without = Entity::Gpu("GPU-00000000-0000-0000-0000-0000000000a0");
  const Entity with = Entity::Gpu("GPU-00000000-0000-0000-0000-0000000000a1");
  NvmlRun run("vgpu");
  run.Start();
  EXPECT_EQ(run.Get("gpu.virtualization_mode", without).AsText(), "VGPU");
  EXPECT_EQ(run.Get("gpu.vgpu.license", without).AsText(), "Unlicensed");
  EXPECT_EQ(run.Get("gpu.vgpu.license", with).AsText(), "Licensed");
  // A GPU of its own is not asked for a licence.
  NvmlRun bare("h200_idle");
  bare.Start();
  EXPECT_TRUE(bare.evidence.All("gpu.vgpu.license").empty());
}

TEST(NvmlWitness, WindowsDriverModelHidesMemoryOfProcesses) {
  const Entity gpu = Entity::Gpu("GPU-00000000-0000-0000-0000-0000000000w0");
  NvmlRun run("wddm", 4242);
  run.Watch(2.2);
  EXPECT_EQ(run.Get("gpu.driver_model", gpu).AsText(), "WDDM");
  EXPECT_EQ(run.Get("process.gpu.type", Entity::ProcessOnGpu(1000, gpu.id)).AsText(), "C+G");
  const Entity job = Entity::ProcessOnGpu(4242, gpu.id);
  EXPECT_EQ(run.Get("process.gpu.type", job).AsText(), "C");
  EXPECT_EQ(run.Get("process.gpu.memory.bytes", job).state, State::kUnsupported);
  EXPECT_TRUE(run.Values("process.gpu.memory.bytes", job).empty());
  EXPECT_DOUBLE_EQ(run.Values("process.gpu.sm.ratio", job).front(), 0.97);
  EXPECT_EQ(run.Get("gpu.energy.joules", gpu).state, State::kUnsupported);
  EXPECT_NEAR(run.Values("gpu.throttle.power.seconds", gpu).front(), 834.002687, 1e-6);
  // A 32-bit counter that wrapped: 500 - 4294967000 + 2^32 = 796 bytes in a second.
  EXPECT_NEAR(run.Values("gpu.pcie.tx.bytes_per_second", gpu).front(), 796, 1);
}

struct InitCase {
  const char* scenario;
  int code;
  const char* words;
};
class NvmlInit : public testing::TestWithParam<InitCase> {};

TEST_P(NvmlInit, FailureIsExplained) {
  NvmlRun run(GetParam().scenario, 77);
  run.Watch(1.2);
  run.Stop(1.4);
  EXPECT_EQ(run.Get("driver.nvml.ok").AsBool(), false);
  EXPECT_EQ(run.Get("driver.nvml.error").AsInt(), GetParam().code);
  EXPECT_NE(run.Get("driver.nvml.error_text").AsText()->find(GetParam().words), std::string::npos);
  EXPECT_EQ(run.Get("driver.nvml.version").AsText(), "13.580.159.04");
  ASSERT_EQ(run.evidence.gaps().size(), 1U);
  EXPECT_FALSE(run.evidence.gaps()[0].fix.empty());
}

INSTANTIATE_TEST_SUITE_P(Codes, NvmlInit,
                         testing::Values(InitCase{"version_mismatch", 18, "different versions"},
                                         InitCase{"driver_not_loaded", 9, "not loaded"}),
                         [](const auto& test) { return std::string(test.param.scenario); });

TEST(NvmlWitness, MissingLibraryNamesEveryPathTried) {
  NvmlRun run("h200_idle");
  run.context().nvml_library = "";
  run.Start();
  const Value tried = run.Get("driver.nvml.tried");
  ASSERT_GE(tried.AsList()->size(), 4U);
  EXPECT_NE(tried.AsList()->front().find("/usr/lib/wsl/lib/libnvidia-ml.so.1"), std::string::npos);
  EXPECT_EQ(run.Get("driver.nvml.error").AsInt(), 12);
  EXPECT_EQ(run.Get("driver.nvml.path").state, State::kNotFound);
  run.Poll(0.2);
  run.Stop(0.4);
}

TEST(NvmlWitness, BlockedGpuIsAGapAndNotAbsent) {
  NvmlRun run("no_permission", 77);
  run.Watch(0.4);
  EXPECT_EQ(run.Get("driver.nvml.ok").AsBool(), true);
  EXPECT_EQ(run.Get("driver.gpu_count").AsInt(), 0);
  ASSERT_TRUE(run.Get("driver.nvml.device_errors").known());
  EXPECT_NE(run.Get("driver.nvml.device_errors").AsList()->front().find("NVML 4"), std::string::npos);
}

TEST(NvmlWitness, LostGpuIsLeftAloneAndTheOtherGoesOn) {
  const Entity second = Entity::Gpu("GPU-00000000-0000-0000-0000-000000000001");
  NvmlRun run("gpu_lost", 77);
  run.Watch(10);
  EXPECT_EQ(run.Get("gpu.lost", kH200).AsBool(), true);
  EXPECT_EQ(run.Get("gpu.lost", second).AsBool(), false);
  const size_t before = run.Values("gpu.power.watts", kH200).size();
  EXPECT_GT(before, 0U);
  EXPECT_LT(before, 45U);
  EXPECT_EQ(run.Values("gpu.power.watts", second).size(), 50U);
  bool told = false;
  for (const Gap& gap : run.evidence.gaps()) told = told || gap.why.find("NVML 15") != std::string::npos;
  EXPECT_TRUE(told);
  run.Poll(20);
  EXPECT_EQ(run.Values("gpu.power.watts", kH200).size(), before);
}

}  // namespace
}  // namespace gpuwhy
