// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// Our own declarations against NVIDIA's header, where it is installed.
#include "witness/nvml/nvml_abi.h"

#include <gtest/gtest.h>

#include <cstddef>

#if __has_include(<nvml.h>)
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>
#define GPUWHY_HAS_NVML_HEADER 1
#endif

namespace gpuwhy {
namespace {

// Holds without any header: 64-bit layouts that drivers rely on.
TEST(NvmlAbi, SizesAreThoseOfTheVersionNumbers) {
  EXPECT_EQ(nvml::StructVersion<nvml::MemoryV2>(2), 0x2000028U);
  EXPECT_EQ(nvml::StructVersion<nvml::TemperatureV1>(1), 0x100000CU);
  EXPECT_EQ(nvml::StructVersion<nvml::ProcessesUtilizationV1>(1), 0x1000018U);
  EXPECT_EQ(sizeof(nvml::ProcessInfoV1), 16U);
  EXPECT_EQ(sizeof(nvml::ProcessInfoV2), 24U);
  EXPECT_EQ(sizeof(nvml::ProcessInfoCc), 32U);
}

#ifdef GPUWHY_HAS_NVML_HEADER
TEST(NvmlAbi, StructsMatchTheHeader) {
  EXPECT_EQ(sizeof(nvml::PciInfo), sizeof(nvmlPciInfo_t));
  EXPECT_EQ(offsetof(nvml::PciInfo, bus_id), offsetof(nvmlPciInfo_t, busId));
  EXPECT_EQ(sizeof(nvml::Utilization), sizeof(nvmlUtilization_t));
  EXPECT_EQ(sizeof(nvml::MemoryV1), sizeof(nvmlMemory_t));
  EXPECT_EQ(offsetof(nvml::MemoryV1, used), offsetof(nvmlMemory_t, used));
  EXPECT_EQ(sizeof(nvml::MemoryV2), sizeof(nvmlMemory_v2_t));
  EXPECT_EQ(offsetof(nvml::MemoryV2, reserved), offsetof(nvmlMemory_v2_t, reserved));
  EXPECT_EQ(offsetof(nvml::MemoryV2, used), offsetof(nvmlMemory_v2_t, used));
  EXPECT_EQ(sizeof(nvml::ProcessInfoV1), sizeof(nvmlProcessInfo_v1_t));
  EXPECT_EQ(sizeof(nvml::ProcessInfoV2), sizeof(nvmlProcessInfo_v2_t));
  EXPECT_EQ(sizeof(nvml::ProcessInfoV2), sizeof(nvmlProcessInfo_t));
  EXPECT_EQ(offsetof(nvml::ProcessInfoV2, compute_instance), offsetof(nvmlProcessInfo_t, computeInstanceId));
  EXPECT_EQ(sizeof(nvml::FieldValue), sizeof(nvmlFieldValue_t));
  EXPECT_EQ(offsetof(nvml::FieldValue, result), offsetof(nvmlFieldValue_t, nvmlReturn));
  EXPECT_EQ(offsetof(nvml::FieldValue, value), offsetof(nvmlFieldValue_t, value));
  EXPECT_EQ(sizeof(nvml::BufferSample), sizeof(nvmlSample_t));
  EXPECT_EQ(sizeof(nvml::ViolationTime), sizeof(nvmlViolationTime_t));
  EXPECT_EQ(sizeof(nvml::LicensableFeatures), sizeof(nvmlGridLicensableFeatures_t));
  EXPECT_EQ(offsetof(nvml::LicensableFeatures, features),
            offsetof(nvmlGridLicensableFeatures_t, gridLicensableFeatures));
  EXPECT_EQ(offsetof(nvml::LicensableFeature, licensed), offsetof(nvmlGridLicensableFeature_t, featureState));
}

TEST(NvmlAbi, ProcessUtilisationMatchesTheHeader) {
  EXPECT_EQ(sizeof(nvml::ProcessUtilization), sizeof(nvmlProcessUtilizationSample_t));
  EXPECT_EQ(offsetof(nvml::ProcessUtilization, sm), offsetof(nvmlProcessUtilizationSample_t, smUtil));
#ifdef nvmlProcessesUtilizationInfo_v1
  EXPECT_EQ(sizeof(nvml::ProcessUtilizationV1), sizeof(nvmlProcessUtilizationInfo_v1_t));
  EXPECT_EQ(offsetof(nvml::ProcessUtilizationV1, pid), offsetof(nvmlProcessUtilizationInfo_v1_t, pid));
  EXPECT_EQ(nvml::StructVersion<nvml::ProcessesUtilizationV1>(1), nvmlProcessesUtilizationInfo_v1);
  EXPECT_EQ(offsetof(nvml::ProcessesUtilizationV1, entries),
            offsetof(nvmlProcessesUtilizationInfo_v1_t, procUtilArray));
#endif
#ifdef nvmlTemperature_v1
  EXPECT_EQ(nvml::StructVersion<nvml::TemperatureV1>(1), nvmlTemperature_v1);
#endif
}

TEST(NvmlAbi, GpmMatchesTheHeader) {
  EXPECT_EQ(sizeof(nvml::GpmMetric), sizeof(nvmlGpmMetric_t));
  EXPECT_EQ(offsetof(nvml::GpmMetric, value), offsetof(nvmlGpmMetric_t, value));
  EXPECT_EQ(offsetof(nvml::GpmMetricsGet, metrics), offsetof(nvmlGpmMetricsGet_t, metrics));
  EXPECT_GE(nvml::kGpmArray, static_cast<size_t>(NVML_GPM_METRIC_MAX));
  EXPECT_EQ(sizeof(nvml::GpmSupport), sizeof(nvmlGpmSupport_t));
  EXPECT_EQ(nvml::kGpmSm, static_cast<unsigned>(NVML_GPM_METRIC_SM_UTIL));
  EXPECT_EQ(nvml::kGpmAnyTensor, static_cast<unsigned>(NVML_GPM_METRIC_ANY_TENSOR_UTIL));
  EXPECT_EQ(nvml::kGpmDram, static_cast<unsigned>(NVML_GPM_METRIC_DRAM_BW_UTIL));
}

TEST(NvmlAbi, NumbersMatchTheHeader) {
  EXPECT_EQ(nvml::kNotSupported, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvml::kInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(nvml::kGpuIsLost, NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(nvml::kLibRmVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
  EXPECT_EQ(nvml::kArgumentVersionMismatch, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  EXPECT_EQ(nvml::kFieldPowerPolicyNs, static_cast<unsigned>(NVML_FI_DEV_PERF_POLICY_POWER));
  EXPECT_EQ(nvml::kFieldEnergyMillijoules, static_cast<unsigned>(NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION));
  EXPECT_EQ(nvml::kFieldPcieTxBytes, static_cast<unsigned>(NVML_FI_DEV_PCIE_COUNT_TX_BYTES));
  EXPECT_EQ(nvml::kClockSm, static_cast<unsigned>(NVML_CLOCK_SM));
  EXPECT_EQ(nvml::kThresholdSlowdown, static_cast<unsigned>(NVML_TEMPERATURE_THRESHOLD_SLOWDOWN));
  EXPECT_EQ(nvml::kSamplesGpuUtilization, static_cast<unsigned>(NVML_GPU_UTILIZATION_SAMPLES));
}
#else
TEST(NvmlAbi, StructsMatchTheHeader) { GTEST_SKIP() << "nvml.h is not installed"; }
#endif

}  // namespace
}  // namespace gpuwhy
