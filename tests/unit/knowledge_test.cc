// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "knowledge/builds.h"
#include "knowledge/drivers.h"
#include "knowledge/errors.h"
#include "knowledge/gpus.h"

namespace gpuwhy::knowledge {
namespace {

std::string_view CudaOf(std::string_view driver) {
  const DriverBranch* branch = BranchOfDriver(driver);
  return branch != nullptr ? branch->cuda : "";
}

TEST(Drivers, BranchTellsTheCudaVersion) {
  EXPECT_EQ(CudaOf("525.125.06"), "12.0");
  EXPECT_EQ(CudaOf("470.57.02"), "11.4");
  EXPECT_EQ(CudaOf("470.57.2"), "11.4");  // as TensorFlow logs it
  EXPECT_EQ(CudaOf("352.63"), "7.5");
  EXPECT_EQ(CudaOf("580.159.04"), "13.0");
  EXPECT_EQ(CudaOf("610.43.02"), "13.3");
}

TEST(Drivers, WindowsCountsOnInsideABranch) {
  EXPECT_EQ(CudaOf("566.36"), "12.7");
  EXPECT_EQ(CudaOf("538.92"), "12.2");
  EXPECT_EQ(CudaOf("573.13"), "12.8");
  EXPECT_EQ(CudaOf("399.24"), "9.2");
  EXPECT_EQ(CudaOf("610.62"), "13.3");
  EXPECT_EQ(BranchOfDriver("388.73")->cuda_max, "9.1");
}

TEST(Drivers, UnknownIsNotGuessed) {
  EXPECT_EQ(BranchOfDriver("N/A"), nullptr);
  EXPECT_EQ(BranchOfDriver(""), nullptr);
  EXPECT_EQ(BranchOfDriver("310.19"), nullptr);  // older than the table
  EXPECT_EQ(BranchOfDriver("650.10"), nullptr);  // newer than the table
  EXPECT_EQ(BranchOfDriver("999999999999.1"), nullptr);
}

TEST(Drivers, NumbersOfTheApi) {
  EXPECT_EQ(CudaOfNumber(10010), "10.1");
  EXPECT_EQ(CudaOfNumber(9000), "9.0");
  EXPECT_EQ(CudaOfNumber(12040), "12.4");
  EXPECT_EQ(CudaOfNumber(13020), "13.2");
  EXPECT_EQ(CudaOfNumber(470), "");
  EXPECT_EQ(CudaOfNumber(0), "");
}

TEST(Drivers, MinorVersionCompatibilityFromElevenOn) {
  EXPECT_EQ(DriverRuns("11.2", "11.8"), true);
  EXPECT_EQ(DriverRuns("12.4", "12.8"), true);
  EXPECT_EQ(DriverRuns("13.0", "12.8"), true);
  EXPECT_EQ(DriverRuns("12.4", "13.0"), false);
  EXPECT_EQ(DriverRuns("10.1", "10.2"), false);
  EXPECT_EQ(DriverRuns("10.2", "10.1"), true);
  EXPECT_EQ(DriverRuns("9.1", "10.0.130"), false);
  EXPECT_EQ(DriverRuns("", "12.1"), std::nullopt);
}

TEST(Drivers, OldestDriver) {
  EXPECT_EQ(OldestDriverFor("10.0.130", true), "411.31");
  EXPECT_EQ(OldestDriverFor("10.0", false), "410.48");
  EXPECT_EQ(OldestDriverFor("11.8", false), "450.80.02");
  EXPECT_EQ(OldestDriverFor("12.6", true), "528.33");
  EXPECT_EQ(OldestDriverFor("13.0", false), "580");
  EXPECT_EQ(OldestDriverFor("99.1", false), "");
  EXPECT_EQ(CompareVersions("388.73", "411.31"), -1);
  EXPECT_EQ(CompareVersions("450.80.02", "450.80.2"), 0);
  EXPECT_EQ(CompareVersions("550.107", "550.90.07"), 1);
}

TEST(Builds, VariantByLocalVersion) {
  const FrameworkBuild* build = FindBuild("pytorch", "2.6.0+cu126", "windows");
  ASSERT_NE(build, nullptr);
  EXPECT_EQ(build->cuda, "12.6");
  EXPECT_EQ(CoverOf(build->archs, "12.0"), Cover::kNone);
  EXPECT_EQ(CoverOf(build->archs, "8.9"), Cover::kMachineCode);
  EXPECT_EQ(FindBuild("pytorch", "2.6.0+cu999", "linux"), nullptr);
  EXPECT_EQ(FindBuild("pytorch", "1.10.0+cu102", "")->archs, "3.7 5.0 6.0 7.0");
}

TEST(Builds, PlainPackageDependsOnTheOs) {
  EXPECT_EQ(FindBuild("pytorch", "2.1.0", "windows")->cuda, "none");
  EXPECT_EQ(FindBuild("pytorch", "2.1.0", "linux")->cuda, "12.1");
  EXPECT_EQ(FindBuild("pytorch", "2.1.0", ""), nullptr);
  EXPECT_EQ(FindBuild("tensorflow", "2.10.1", "windows")->cuda, "11.2");
  EXPECT_EQ(FindBuild("tensorflow", "2.11.0", "windows")->cuda, "none");
  EXPECT_EQ(FindBuild("tensorflow", "2.17.0", "windows")->cuda, "none");
  EXPECT_EQ(FindBuild("tensorflow", "2.17.0", "linux")->cuda, "12.3");
  EXPECT_EQ(FindBuild("tensorflow", "1.14.0", "windows")->cuda, "10.0");
}

TEST(Builds, LocalVersion) {
  EXPECT_EQ(CudaOfLocalVersion("2.6.0+cu126"), "12.6");
  EXPECT_EQ(CudaOfLocalVersion("1.2.0+cu92"), "9.2");
  EXPECT_EQ(CudaOfLocalVersion("2.1.0+cpu"), "");
  EXPECT_EQ(CudaOfLocalVersion("2.1.0+cpu.cxx11.abi"), "");
  EXPECT_EQ(CudaOfLocalVersion("2.9.0+rocm6.4"), std::nullopt);
  EXPECT_EQ(CudaOfLocalVersion("2.1.0"), std::nullopt);
}

TEST(Builds, Capabilities) {
  EXPECT_EQ(CapabilityOf("sm_86"), "8.6");
  EXPECT_EQ(CapabilityOf("sm_120"), "12.0");
  EXPECT_EQ(CapabilityOf("sm_90a"), "9.0");
  EXPECT_EQ(CapabilityOf("compute_90"), "9.0");
  EXPECT_EQ(CapabilityOf("7.5"), "7.5");
  EXPECT_EQ(CapabilityOf("gfx90a"), "");
  EXPECT_EQ(RunsOn("8.0", "8.6"), true);
  EXPECT_EQ(RunsOn("8.6", "8.0"), false);
  EXPECT_EQ(RunsOn("9.0", "12.0"), false);
  EXPECT_EQ(CoverOf("7.5 8.0 9.0+PTX", "12.0"), Cover::kPtxOnly);
  EXPECT_EQ(CoverOf("", "12.0"), Cover::kUnknown);
}

TEST(Gpus, LongestName) {
  EXPECT_EQ(FindGpu("NVIDIA GeForce RTX 4080 SUPER")->watts, 320);
  EXPECT_EQ(FindGpu("GeForce RTX 3080 Ti")->watts, 350);
  EXPECT_EQ(FindGpu("NVIDIA GeForce RTX 3080 Laptop GPU")->watts, 0);
  EXPECT_EQ(FindGpu("Tesla T4")->capability, "7.5");
  EXPECT_EQ(FindGpu("NVIDIA RTX A2000 Laptop GPU")->capability, "8.6");
  EXPECT_EQ(FindGpu("NVIDIA RTX A2000 Laptop GPU")->gib, 0);
  EXPECT_EQ(FindGpu("NVIDIA H100 80GB HBM3 MIG 3g.40gb")->gib, 0);
  EXPECT_EQ(FindGpu("NVIDIA GeForce RTX 2060")->gib, 0);  // boards of 6 and of 12 GB
  EXPECT_EQ(FindGpu("NVIDIA H100 80GB HBM3")->gib, 80);
  EXPECT_EQ(FindGpu("NVIDIA RTX A6000")->capability, "8.6");
  EXPECT_EQ(FindGpu("NVIDIA GB10")->capability, "12.1");
  EXPECT_EQ(FindGpu("Tesla K10.G2.8GB")->capability, "3.0");
  EXPECT_EQ(FindGpu("GeForce 820M")->capability, "2.1");
  EXPECT_EQ(FindGpu("RTX 3090")->capability, "8.6");
}

TEST(Gpus, CutOffNamesGiveWhatAllHaveInCommon) {
  EXPECT_EQ(FindGpu("NVIDIA GeForce RTX 3090...")->capability, "8.6");
  EXPECT_EQ(FindGpu("NVIDIA GeForce RTX 3090...")->watts, 0);  // 3090 or 3090 Ti
  EXPECT_EQ(FindGpu("Tesla V100-SXM2...")->capability, "7.0");
  EXPECT_EQ(FindGpu("NVIDIA GeForce ...")->capability, "");
  EXPECT_FALSE(FindGpu("Radeon RX 7900 XTX"));
  EXPECT_FALSE(FindGpu(""));
  EXPECT_TRUE(IsConsumerGpu("NVIDIA GeForce ..."));
  EXPECT_TRUE(IsConsumerGpu("NVIDIA TITAN RTX"));
  EXPECT_FALSE(IsConsumerGpu("Tesla T4"));
}

TEST(Errors, Numbers) {
  EXPECT_EQ(FindCudaError(804)->driver, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE");
  EXPECT_EQ(FindCudaError(35)->driver, "");
  EXPECT_EQ(FindCudaError(12345), nullptr);
  EXPECT_EQ(FindXid(79)->blame, "hardware");
  EXPECT_EQ(FindXid(100000), nullptr);
}

}  // namespace
}  // namespace gpuwhy::knowledge
