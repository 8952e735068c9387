// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 that answers from a text file (GPUWHY_FAKE_NVML), so that tests load, bind and call the library
// the way they would the real one. docs/witnesses/nvml.md describes the file.
#include "fake_nvml.h"

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace fake_nvml {
namespace {

bool initialised = false;

bool Owns(const std::vector<Section>& sections, const void* handle) {
  for (const Section& section : sections) {
    if (&section == handle) return true;
  }
  return false;
}

}  // namespace

Script& TheScript() {
  static Script script;
  return script;
}

bool IsInitialised() { return initialised; }

unsigned long& CallCount() {
  static unsigned long count = 0;
  return count;
}

uint64_t NowUs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

Return Enter(DeviceHandle handle, Section** out) {
  ++CallCount();
  if (!initialised) return kUninitialized;
  auto* section = reinterpret_cast<Section*>(handle);
  if (!Owns(TheScript().gpus, section) && !Owns(TheScript().slices, section)) return kInvalidArgument;
  ++section->calls;
  const auto lost = section->answers.find("lost_after");
  if (lost != section->answers.end() && section->calls > std::strtoul(lost->second.tokens[0].c_str(), nullptr, 10))
    return kGpuIsLost;
  *out = section;
  return kSuccess;
}

Return CopyText(const std::string& text, char* out, unsigned size) {
  if (text.size() + 1 > size) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

namespace {

Return SystemText(const char* key, char* out, unsigned size) {
  ++CallCount();
  std::string token;
  const Return code = TheScript().system.Next(key, &token);
  return code == kSuccess ? CopyText(token, out, size) : code;
}

Return DeviceText(DeviceHandle handle, const char* key, char* out, unsigned size) {
  Section* gpu = nullptr;
  std::string token;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Next(key, &token);
  return code == kSuccess ? CopyText(token, out, size) : code;
}

Return Initialise() {
  ++CallCount();
  TheScript() = Script::Load(std::getenv("GPUWHY_FAKE_NVML"));
  std::string token;
  const Return code = TheScript().system.Next("init", &token, kDriverNotLoaded);
  initialised = code == kSuccess;
  return code;
}

Return Handle(unsigned index, DeviceHandle* out) {
  ++CallCount();
  if (!initialised) return kUninitialized;
  if (index >= TheScript().gpus.size()) return kInvalidArgument;
  Section& gpu = TheScript().gpus[index];
  std::string token;
  const Return code = gpu.Next("handle", &token, kSuccess);
  *out = reinterpret_cast<DeviceHandle>(&gpu);
  return code;
}

Return HandleByBusId(const char* bus_id, DeviceHandle* out) {
  for (Section& gpu : TheScript().gpus) {
    const auto place = gpu.answers.find("bus_id");
    if (place != gpu.answers.end() && place->second.tokens[0] == bus_id) return Handle(gpu.index, out);
  }
  ++CallCount();
  return kNotFound;
}

Return Count(unsigned* out) {
  ++CallCount();
  *out = static_cast<unsigned>(TheScript().gpus.size());
  return initialised ? kSuccess : kUninitialized;
}

Return Pci(DeviceHandle handle, PciInfo* out) {
  Section* gpu = nullptr;
  std::string token;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Next("bus_id", &token);
  if (code != kSuccess) return code;
  *out = {};
  CopyText(token, out->bus_id, sizeof out->bus_id);
  return CopyText(token.size() > 4 ? token.substr(4) : token, out->bus_id_legacy, sizeof out->bus_id_legacy);
}

Return Pair(DeviceHandle handle, const char* key, unsigned* first, unsigned* second) {
  const Return code = Simple(handle, key, first);
  *second = *first;
  return code;
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;  // NOLINT(google-build-using-namespace)

// Not NVML: lets a test see whether anybody called.
FAKE_API unsigned long gpuwhyFakeNvmlCalls() { return CallCount(); }

FAKE_API Return nvmlInit() { return Initialise(); }
FAKE_API Return nvmlShutdown() {
  ++CallCount();
  return kSuccess;
}
FAKE_API Return nvmlSystemGetDriverVersion(char* out, unsigned size) { return SystemText("driver_version", out, size); }
FAKE_API Return nvmlSystemGetNVMLVersion(char* out, unsigned size) { return SystemText("nvml_version", out, size); }
FAKE_API Return nvmlSystemGetCudaDriverVersion(int* out) {
  ++CallCount();
  return TheScript().system.One("cuda_version", out);
}
FAKE_API Return nvmlDeviceGetUUID(DeviceHandle gpu, char* out, unsigned size) {
  return DeviceText(gpu, "uuid", out, size);
}
FAKE_API Return nvmlDeviceGetName(DeviceHandle gpu, char* out, unsigned size) {
  return DeviceText(gpu, "name", out, size);
}
FAKE_API Return nvmlDeviceGetIndex(DeviceHandle handle, unsigned* out) {
  Section* gpu = nullptr;
  const Return code = Enter(handle, &gpu);
  if (code == kSuccess) *out = gpu->index;
  return code;
}
FAKE_API Return nvmlDeviceGetMinorNumber(DeviceHandle gpu, unsigned* out) { return Simple(gpu, "minor", out); }
FAKE_API Return nvmlDeviceGetBrand(DeviceHandle gpu, unsigned* out) { return Simple(gpu, "brand", out); }
FAKE_API Return nvmlDeviceGetCudaComputeCapability(DeviceHandle handle, int* major, int* minor) {
  Section* gpu = nullptr;
  std::vector<double> numbers;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Numbers("compute_capability", &numbers, 2);
  if (code == kSuccess) *major = static_cast<int>(numbers[0]), *minor = static_cast<int>(numbers[1]);
  return code;
}
FAKE_API Return nvmlDeviceGetComputeMode(DeviceHandle gpu, unsigned* out) { return Simple(gpu, "compute_mode", out); }
FAKE_API Return nvmlDeviceGetPersistenceMode(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "persistence_mode", out);
}
FAKE_API Return nvmlDeviceGetPowerManagementLimit(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "power_limit", out);
}
FAKE_API Return nvmlDeviceGetPowerManagementDefaultLimit(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "power_default_limit", out);
}
FAKE_API Return nvmlDeviceGetTemperatureThreshold(DeviceHandle gpu, unsigned, unsigned* out) {
  return Simple(gpu, "temperature_slowdown", out);
}
FAKE_API Return nvmlDeviceGetMaxClockInfo(DeviceHandle gpu, unsigned, unsigned* out) {
  return Simple(gpu, "max_clock_sm", out);
}
FAKE_API Return nvmlDeviceGetCurrPcieLinkGeneration(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "pcie_generation", out);
}
FAKE_API Return nvmlDeviceGetMaxPcieLinkGeneration(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "pcie_generation_max", out);
}
FAKE_API Return nvmlDeviceGetCurrPcieLinkWidth(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "pcie_width", out);
}
FAKE_API Return nvmlDeviceGetMaxPcieLinkWidth(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "pcie_width_max", out);
}
FAKE_API Return nvmlDeviceGetEccMode(DeviceHandle gpu, unsigned* now, unsigned* pending) {
  return Pair(gpu, "ecc_mode", now, pending);
}
FAKE_API Return nvmlDeviceGetTotalEccErrors(DeviceHandle gpu, unsigned type, unsigned, unsigned long long* out) {
  return Simple(gpu, type == kErrorsCorrected ? "ecc_corrected" : "ecc_uncorrected", out);
}

#ifdef OLD_DRIVER
FAKE_API Return nvmlDeviceGetCount(unsigned* out) { return Count(out); }
FAKE_API Return nvmlDeviceGetHandleByIndex(unsigned index, DeviceHandle* out) { return Handle(index, out); }
FAKE_API Return nvmlDeviceGetHandleByPciBusId(const char* bus_id, DeviceHandle* out) {
  return HandleByBusId(bus_id, out);
}
FAKE_API Return nvmlDeviceGetPciInfo(DeviceHandle gpu, PciInfo* out) {
  const Return code = Pci(gpu, out);
  std::memset(out->bus_id, 0, sizeof out->bus_id);  // the short form alone
  return code;
}
FAKE_API Return nvmlDeviceGetDriverModel(DeviceHandle gpu, unsigned* now, unsigned* pending) {
  return Pair(gpu, "driver_model", now, pending);
}
#else
FAKE_API Return nvmlInit_v2() { return Initialise(); }
FAKE_API Return nvmlDeviceGetCount_v2(unsigned* out) { return Count(out); }
FAKE_API Return nvmlDeviceGetHandleByIndex_v2(unsigned index, DeviceHandle* out) { return Handle(index, out); }
FAKE_API Return nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, DeviceHandle* out) {
  return HandleByBusId(bus_id, out);
}
FAKE_API Return nvmlSystemGetCudaDriverVersion_v2(int* out) { return nvmlSystemGetCudaDriverVersion(out); }
FAKE_API Return nvmlDeviceGetPciInfo_v3(DeviceHandle gpu, PciInfo* out) { return Pci(gpu, out); }
FAKE_API Return nvmlDeviceGetEnforcedPowerLimit(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "power_limit", out);
}
FAKE_API Return nvmlDeviceGetDriverModel_v2(DeviceHandle gpu, unsigned* now, unsigned* pending) {
  return Pair(gpu, "driver_model", now, pending);
}
FAKE_API Return nvmlDeviceGetVirtualizationMode(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "virtualization_mode", out);
}
// Script: `licence = SUPPORTED,COUNT,LICENSED`, the last of them for the first feature.
FAKE_API Return nvmlDeviceGetGridLicensableFeatures_v4(DeviceHandle handle, LicensableFeatures* out) {
  Section* gpu = nullptr;
  std::vector<double> numbers;
  Return code = Enter(handle, &gpu);
  if (code == kSuccess) code = gpu->Numbers("licence", &numbers, 3);
  if (code != kSuccess) return code;
  *out = {};
  out->supported = static_cast<int>(numbers[0]);
  out->count = static_cast<unsigned>(numbers[1]);
  out->features[0].licensed = static_cast<unsigned>(numbers[2]);
  return kSuccess;
}
FAKE_API Return nvmlDeviceGetMigMode(DeviceHandle gpu, unsigned* now, unsigned* pending) {
  return Pair(gpu, "mig_mode", now, pending);
}
FAKE_API Return nvmlDeviceGetMaxMigDeviceCount(DeviceHandle gpu, unsigned* out) {
  return Simple(gpu, "mig_limit", out);
}
FAKE_API Return nvmlDeviceGetMigDeviceHandleByIndex(DeviceHandle handle, unsigned index, DeviceHandle* out) {
  Section* gpu = nullptr;
  const Return code = Enter(handle, &gpu);
  if (code != kSuccess) return code;
  for (Section& slice : TheScript().slices) {
    if (slice.index == gpu->index && index-- == 0) {
      *out = reinterpret_cast<DeviceHandle>(&slice);
      return kSuccess;
    }
  }
  return kNotFound;
}
#endif
