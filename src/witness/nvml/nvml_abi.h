// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_ABI_H_
#define GPUWHY_WITNESS_NVML_NVML_ABI_H_

#include <cstddef>
#include <cstdint>

// The part of NVML's binary interface that the witness calls, declared anew so that a build needs no vendor package.
// Layouts and numbers: nvml.h 12.x and 13.x (NVIDIA/go-nvml gen/nvml/nvml.h); tests/unit/nvml_abi_test.cc compares
// them with the real header where one is installed.
namespace gpuwhy::nvml {

using Return = int;
struct OpaqueDevice;
using DeviceHandle = OpaqueDevice*;
struct OpaqueGpmSample;
using GpmSample = OpaqueGpmSample*;

// nvmlReturn_t
constexpr Return kSuccess = 0;
constexpr Return kUninitialized = 1;
constexpr Return kInvalidArgument = 2;
constexpr Return kNotSupported = 3;
constexpr Return kNoPermission = 4;
constexpr Return kNotFound = 6;
constexpr Return kInsufficientSize = 7;
constexpr Return kInsufficientPower = 8;
constexpr Return kDriverNotLoaded = 9;
constexpr Return kTimeout = 10;
constexpr Return kIrqIssue = 11;
constexpr Return kLibraryNotFound = 12;
constexpr Return kFunctionNotFound = 13;
constexpr Return kGpuIsLost = 15;
constexpr Return kResetRequired = 16;
constexpr Return kOperatingSystem = 17;
constexpr Return kLibRmVersionMismatch = 18;
constexpr Return kInUse = 19;
constexpr Return kNoMemory = 20;
constexpr Return kNoData = 21;
constexpr Return kInsufficientResources = 23;
constexpr Return kArgumentVersionMismatch = 25;
constexpr Return kDeprecated = 26;
constexpr Return kNotReady = 27;
constexpr Return kGpuNotFound = 28;
constexpr Return kUnknownError = 999;

// NVML_STRUCT_VERSION: the size of the struct with its version in the top byte.
template <typename T>
constexpr unsigned StructVersion(unsigned version) {
  return static_cast<unsigned>(sizeof(T)) | (version << 24U);
}

struct PciInfo {  // nvmlPciInfo_t
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct LicensableFeature {  // nvmlGridLicensableFeature_t
  unsigned code;
  unsigned licensed;  // not zero: it is
  char info[128], product[128];
  unsigned enabled;
  unsigned year;
  unsigned short month, day, hour, minute, second;
  unsigned char expiry;
};

constexpr unsigned kMostLicensableFeatures = 3;

struct LicensableFeatures {  // nvmlGridLicensableFeatures_t of nvmlDeviceGetGridLicensableFeatures_v4
  int supported;
  unsigned count;
  LicensableFeature features[kMostLicensableFeatures];
};
static_assert(sizeof(LicensableFeatures) == 860, "the size in nvml.h");

constexpr unsigned kVirtualizationVgpu = 2;  // NVML_GPU_VIRTUALIZATION_MODE_VGPU: inside a virtual machine

struct Utilization {  // nvmlUtilization_t, percent
  unsigned gpu, memory;
};

struct MemoryV1 {  // nvmlMemory_t, bytes
  uint64_t total, free, used;
};

struct MemoryV2 {  // nvmlMemory_v2_t, bytes; `used` includes what the driver reserved
  unsigned version;
  uint64_t total, reserved, free, used;
};

// "Not available": Windows manages the memory of processes there (nvml.h, NVML_VALUE_NOT_AVAILABLE = -1).
constexpr uint64_t kMemoryNotAvailable = ~uint64_t{0};

struct ProcessInfoV1 {  // nvmlProcessInfo_v1_t: functions without a suffix
  unsigned pid;
  uint64_t used_memory;
};

struct ProcessInfoV2 {  // nvmlProcessInfo_v2_t = nvmlProcessInfo_t: _v2 and _v3
  unsigned pid;
  uint64_t used_memory;
  unsigned gpu_instance, compute_instance;
};

struct ProcessInfoCc {  // what _v3 wrote in drivers 535.43 to 535.86 (nvitop issue 75, gpustat issue 161)
  unsigned pid;
  uint64_t used_memory;
  unsigned gpu_instance, compute_instance;
  uint64_t used_cc_protected_memory;
};

union AnyValue {  // nvmlValue_t
  double as_double;
  int as_int;
  unsigned as_unsigned;
  unsigned long as_unsigned_long;
  unsigned long long as_unsigned_long_long;
  signed long long as_signed_long_long;
};

// nvmlValueType_t
constexpr int kTypeDouble = 0;
constexpr int kTypeUnsigned = 1;
constexpr int kTypeUnsignedLong = 2;
constexpr int kTypeUnsignedLongLong = 3;
constexpr int kTypeSignedLongLong = 4;
constexpr int kTypeSigned = 5;

struct FieldValue {  // nvmlFieldValue_t
  unsigned field_id;
  unsigned scope_id;
  long long timestamp;  // microseconds since 1970
  long long latency_us;
  int value_type;
  Return result;
  AnyValue value;
};

struct BufferSample {            // nvmlSample_t
  unsigned long long timestamp;  // microseconds since 1970
  AnyValue value;
};

struct ProcessUtilization {  // nvmlProcessUtilizationSample_t, percent
  unsigned pid;
  unsigned long long timestamp;
  unsigned sm, memory, encoder, decoder;
};

struct ProcessUtilizationV1 {  // nvmlProcessUtilizationInfo_v1_t: the time comes first here
  unsigned long long timestamp;
  unsigned pid;
  unsigned sm, memory, encoder, decoder, jpeg, ofa;
};

struct ProcessesUtilizationV1 {  // nvmlProcessesUtilizationInfo_v1_t
  unsigned version;
  unsigned count;
  unsigned long long last_seen;
  ProcessUtilizationV1* entries;
};

struct ViolationTime {  // nvmlViolationTime_t: microseconds of the reference, nanoseconds of violation
  unsigned long long reference_time, violation_time;
};

struct TemperatureV1 {  // nvmlTemperature_v1_t
  unsigned version;
  unsigned sensor;
  int celsius;
};

struct GpmMetric {  // nvmlGpmMetric_t
  unsigned id;
  Return result;
  double value;
  char *short_name, *long_name, *unit;
};

// NVML_GPM_METRIC_MAX was 98, 210, 333 and 477 in headers up to 13.615, always with struct version 1: a library clears
// or fills at most its own number, so the array must be at least as long as the longest.
constexpr size_t kGpmArray = 1024;

struct GpmMetricsGet {  // nvmlGpmMetricsGet_t
  unsigned version;     // 1
  unsigned count;
  GpmSample sample1, sample2;
  GpmMetric metrics[kGpmArray];
};

struct GpmSupport {  // nvmlGpmSupport_t
  unsigned version;  // 1
  unsigned supported;
};

// NVML_FI_DEV_*
constexpr unsigned kFieldPowerPolicyNs = 74;
constexpr unsigned kFieldEnergyMillijoules = 83;
constexpr unsigned kFieldPcieTxBytes = 197;
constexpr unsigned kFieldPcieRxBytes = 198;

// nvmlGpmMetricId_t
constexpr unsigned kGpmGraphics = 1;
constexpr unsigned kGpmSm = 2;
constexpr unsigned kGpmOccupancy = 3;
constexpr unsigned kGpmAnyTensor = 5;
constexpr unsigned kGpmDram = 10;
constexpr unsigned kGpmPcieTx = 20;  // MiB/s
constexpr unsigned kGpmPcieRx = 21;  // MiB/s

// Arguments: nvmlClockType_t, nvmlTemperatureThresholds_t, nvmlSamplingType_t, nvmlPerfPolicyType_t,
// nvmlMemoryErrorType_t, nvmlEccCounterType_t.
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kThresholdSlowdown = 1;
constexpr unsigned kSamplesGpuUtilization = 1;
constexpr unsigned kPolicyPower = 0;
constexpr unsigned kPolicyThermal = 1;
constexpr unsigned kErrorsCorrected = 0;
constexpr unsigned kErrorsUncorrected = 1;
constexpr unsigned kVolatileEcc = 0;

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_ABI_H_
