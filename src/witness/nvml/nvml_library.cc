// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/nvml/nvml_library.h"

namespace gpuwhy::nvml {
namespace {

constexpr const char* kSoname = "libnvidia-ml.so.1";

// Where the library stands when the loader does not find it: WSL mounts it from Windows, GKE-style container runtimes,
// Debian's alternatives and NixOS keep it outside the loader's path.
constexpr const char* kFolders[] = {
    "/usr/lib/wsl/lib/", "/usr/local/nvidia/lib64/", "/usr/lib/x86_64-linux-gnu/nvidia/current/",
    "/usr/lib64/",       "/run/opengl-driver/lib/",
};

StringList Candidates(const std::string& chosen, const HostRoot& root) {
  if (!chosen.empty()) return {chosen};
  StringList out;
  // A faked machine must not see the library of the real one.
  if (!root.is_fake()) out.emplace_back(kSoname);
  for (const char* folder : kFolders) out.push_back(root.Path(std::string(folder) + kSoname));
  return out;
}

}  // namespace

Library Library::Open(const std::string& chosen, const HostRoot& root) {
  Library out;
  for (const std::string& name : Candidates(chosen, root)) {
    Result<DynamicLibrary> opened = DynamicLibrary::Open(name);
    if (!opened) {
      out.tried_.push_back(name + ": " + opened.error().message);
      continue;
    }
    out.tried_.push_back(name + ": found");
    out.path_ = opened->LoadedPath();
    if (out.path_.empty()) out.path_ = name;
    out.library_.emplace(*std::move(opened));
    out.BindAll();
    break;
  }
  return out;
}

template <typename Function>
void Library::Bind(Function*& slot, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    void* address = library_->Symbol(name);
    if (address == nullptr) continue;
    slot = reinterpret_cast<Function*>(address);
    return;
  }
  missing_.emplace_back(*names.begin());
}

void Library::BindAll() {
  Bind(api_.init, {"nvmlInit_v2", "nvmlInit"});
  Bind(api_.shutdown, {"nvmlShutdown"});
  Bind(api_.driver_version, {"nvmlSystemGetDriverVersion"});
  Bind(api_.nvml_version, {"nvmlSystemGetNVMLVersion"});
  Bind(api_.cuda_version, {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  Bind(api_.device_count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  Bind(api_.by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  Bind(api_.by_bus_id, {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"});
  BindDevice();
  BindReadings();
  BindProcesses();
}

void Library::BindDevice() {
  Bind(api_.uuid, {"nvmlDeviceGetUUID"});
  Bind(api_.name, {"nvmlDeviceGetName"});
  Bind(api_.pci_info, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  Bind(api_.index, {"nvmlDeviceGetIndex"});
  Bind(api_.minor_number, {"nvmlDeviceGetMinorNumber"});
  Bind(api_.brand, {"nvmlDeviceGetBrand"});
  Bind(api_.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  Bind(api_.mig_mode, {"nvmlDeviceGetMigMode"});
  Bind(api_.mig_limit, {"nvmlDeviceGetMaxMigDeviceCount"});
  Bind(api_.mig_device, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  Bind(api_.virtualization_mode, {"nvmlDeviceGetVirtualizationMode"});
  Bind(api_.licensable_features, {"nvmlDeviceGetGridLicensableFeatures_v4"});
  Bind(api_.compute_mode, {"nvmlDeviceGetComputeMode"});
  Bind(api_.driver_model, {"nvmlDeviceGetDriverModel_v2", "nvmlDeviceGetDriverModel"});
  Bind(api_.persistence_mode, {"nvmlDeviceGetPersistenceMode"});
  Bind(api_.power_limit, {"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"});
  Bind(api_.power_default_limit, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  Bind(api_.temperature_threshold, {"nvmlDeviceGetTemperatureThreshold"});
  Bind(api_.max_clock, {"nvmlDeviceGetMaxClockInfo"});
  Bind(api_.pcie_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  Bind(api_.pcie_generation_max, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  Bind(api_.pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  Bind(api_.pcie_width_max, {"nvmlDeviceGetMaxPcieLinkWidth"});
  Bind(api_.ecc_mode, {"nvmlDeviceGetEccMode"});
  Bind(api_.ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
}

void Library::BindReadings() {
  Bind(api_.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  Bind(api_.memory, {"nvmlDeviceGetMemoryInfo"});
  Bind(api_.utilization, {"nvmlDeviceGetUtilizationRates"});
  Bind(api_.power, {"nvmlDeviceGetPowerUsage"});
  Bind(api_.temperature_v, {"nvmlDeviceGetTemperatureV"});
  Bind(api_.temperature, {"nvmlDeviceGetTemperature"});
  Bind(api_.clock, {"nvmlDeviceGetClockInfo"});
  Bind(api_.performance_state, {"nvmlDeviceGetPerformanceState"});
  Bind(api_.clock_event_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  Bind(api_.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  Bind(api_.field_values, {"nvmlDeviceGetFieldValues"});
  Bind(api_.violation, {"nvmlDeviceGetViolationStatus"});
  Bind(api_.samples, {"nvmlDeviceGetSamples"});
  Bind(api_.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  Bind(api_.gpm_alloc, {"nvmlGpmSampleAlloc"});
  Bind(api_.gpm_free, {"nvmlGpmSampleFree"});
  Bind(api_.gpm_get, {"nvmlGpmSampleGet"});
  Bind(api_.gpm_metrics, {"nvmlGpmMetricsGet"});
}

// The layout of _v3 cannot be seen from its name: drivers 535.43 to 535.86 added a field to it and later ones took it
// back. Those drivers know confidential computing but not yet the list that replaced the field.
void Library::BindProcesses() {
  const bool has_v3 = library_->Symbol("nvmlDeviceGetComputeRunningProcesses_v3") != nullptr;
  const bool has_v2 = library_->Symbol("nvmlDeviceGetComputeRunningProcesses_v2") != nullptr;
  const bool confidential = library_->Symbol("nvmlDeviceGetConfComputeMemSizeInfo") != nullptr;
  const bool detail_list = library_->Symbol("nvmlDeviceGetRunningProcessDetailList") != nullptr;
  if (has_v3) {
    process_layout_ = confidential && !detail_list ? ProcessLayout::kCc : ProcessLayout::kV2;
    Bind(api_.compute_processes, {"nvmlDeviceGetComputeRunningProcesses_v3"});
    Bind(api_.graphics_processes, {"nvmlDeviceGetGraphicsRunningProcesses_v3"});
    Bind(api_.mps_processes, {"nvmlDeviceGetMPSComputeRunningProcesses_v3"});
  } else if (has_v2) {
    process_layout_ = ProcessLayout::kV2;
    Bind(api_.compute_processes, {"nvmlDeviceGetComputeRunningProcesses_v2"});
    Bind(api_.graphics_processes, {"nvmlDeviceGetGraphicsRunningProcesses_v2"});
    Bind(api_.mps_processes, {"nvmlDeviceGetMPSComputeRunningProcesses_v2"});
  } else {
    process_layout_ = ProcessLayout::kV1;
    Bind(api_.compute_processes, {"nvmlDeviceGetComputeRunningProcesses"});
    Bind(api_.graphics_processes, {"nvmlDeviceGetGraphicsRunningProcesses"});
    Bind(api_.mps_processes, {"nvmlDeviceGetMPSComputeRunningProcesses"});
  }
  Bind(api_.processes_utilization, {"nvmlDeviceGetProcessesUtilizationInfo"});
  Bind(api_.process_utilization, {"nvmlDeviceGetProcessUtilization"});
}

}  // namespace gpuwhy::nvml
