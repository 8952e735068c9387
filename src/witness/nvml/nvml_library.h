// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_LIBRARY_H_
#define GPUWHY_WITNESS_NVML_NVML_LIBRARY_H_

#include <optional>
#include <string>

#include "base/dynamic_library.h"
#include "base/host_root.h"
#include "model/value.h"
#include "witness/nvml/nvml_abi.h"

namespace gpuwhy::nvml {

// Every function is a null pointer when this driver lacks it; Call() turns that into kFunctionNotFound.
struct Api {
  using GetUnsigned = Return(DeviceHandle, unsigned*);
  using GetPair = Return(DeviceHandle, unsigned*, unsigned*);
  using GetKind = Return(DeviceHandle, unsigned, unsigned*);
  using GetWide = Return(DeviceHandle, unsigned long long*);
  using GetText = Return(DeviceHandle, char*, unsigned);
  using GetProcesses = Return(DeviceHandle, unsigned*, void*);

  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*driver_version)(char*, unsigned) = nullptr;
  Return (*nvml_version)(char*, unsigned) = nullptr;
  Return (*cuda_version)(int*) = nullptr;
  Return (*device_count)(unsigned*) = nullptr;
  Return (*by_index)(unsigned, DeviceHandle*) = nullptr;
  Return (*by_bus_id)(const char*, DeviceHandle*) = nullptr;
  GetText* uuid = nullptr;
  GetText* name = nullptr;
  Return (*pci_info)(DeviceHandle, PciInfo*) = nullptr;
  GetUnsigned* index = nullptr;
  GetUnsigned* minor_number = nullptr;
  GetUnsigned* brand = nullptr;
  Return (*compute_capability)(DeviceHandle, int*, int*) = nullptr;
  GetPair* mig_mode = nullptr;
  GetUnsigned* mig_limit = nullptr;
  Return (*mig_device)(DeviceHandle, unsigned, DeviceHandle*) = nullptr;
  GetUnsigned* virtualization_mode = nullptr;
  Return (*licensable_features)(DeviceHandle, LicensableFeatures*) = nullptr;
  GetUnsigned* compute_mode = nullptr;
  GetPair* driver_model = nullptr;
  GetUnsigned* persistence_mode = nullptr;
  GetUnsigned* power_limit = nullptr;
  GetUnsigned* power_default_limit = nullptr;
  GetKind* temperature_threshold = nullptr;
  GetKind* max_clock = nullptr;
  GetUnsigned* pcie_generation = nullptr;
  GetUnsigned* pcie_generation_max = nullptr;
  GetUnsigned* pcie_width = nullptr;
  GetUnsigned* pcie_width_max = nullptr;
  GetPair* ecc_mode = nullptr;
  Return (*ecc_errors)(DeviceHandle, unsigned, unsigned, unsigned long long*) = nullptr;
  Return (*memory_v2)(DeviceHandle, MemoryV2*) = nullptr;
  Return (*memory)(DeviceHandle, MemoryV1*) = nullptr;
  Return (*utilization)(DeviceHandle, Utilization*) = nullptr;
  GetUnsigned* power = nullptr;
  Return (*temperature_v)(DeviceHandle, TemperatureV1*) = nullptr;
  GetKind* temperature = nullptr;
  GetKind* clock = nullptr;
  GetUnsigned* performance_state = nullptr;
  GetWide* clock_event_reasons = nullptr;
  GetWide* energy = nullptr;
  Return (*field_values)(DeviceHandle, int, FieldValue*) = nullptr;
  Return (*violation)(DeviceHandle, unsigned, ViolationTime*) = nullptr;
  Return (*samples)(DeviceHandle, unsigned, unsigned long long, int*, unsigned*, BufferSample*) = nullptr;
  GetProcesses* compute_processes = nullptr;
  GetProcesses* graphics_processes = nullptr;
  GetProcesses* mps_processes = nullptr;
  Return (*processes_utilization)(DeviceHandle, ProcessesUtilizationV1*) = nullptr;
  Return (*process_utilization)(DeviceHandle, ProcessUtilization*, unsigned*, unsigned long long) = nullptr;
  Return (*gpm_support)(DeviceHandle, GpmSupport*) = nullptr;
  Return (*gpm_alloc)(GpmSample*) = nullptr;
  Return (*gpm_free)(GpmSample) = nullptr;
  Return (*gpm_get)(DeviceHandle, GpmSample) = nullptr;
  Return (*gpm_metrics)(GpmMetricsGet*) = nullptr;
};

template <typename... Parameters, typename... Arguments>
Return Call(Return (*function)(Parameters...), Arguments... arguments) {
  return function != nullptr ? function(arguments...) : kFunctionNotFound;
}

// How the entries of the process lists are laid out; the numbers are the sizes of the structs.
enum class ProcessLayout : unsigned {
  kV1 = sizeof(ProcessInfoV1),
  kV2 = sizeof(ProcessInfoV2),
  kCc = sizeof(ProcessInfoCc)
};

// The driver's library, opened at run time.
class Library {
 public:
  // Looks at `chosen` alone when it is not empty, else where drivers put the library. Never fails: loaded() tells.
  static Library Open(const std::string& chosen, const HostRoot& root);

  bool loaded() const { return library_.has_value(); }
  const Api& api() const { return api_; }
  ProcessLayout process_layout() const { return process_layout_; }
  const std::string& path() const { return path_; }
  // "path: found" or "path: the loader's reason", in the order tried.
  const StringList& tried() const { return tried_; }
  // First names of the functions that this driver lacks.
  const StringList& missing() const { return missing_; }

 private:
  template <typename Function>
  void Bind(Function*& slot, std::initializer_list<const char*> names);
  void BindAll();
  void BindDevice();
  void BindReadings();
  void BindProcesses();

  std::optional<DynamicLibrary> library_;
  Api api_;
  ProcessLayout process_layout_ = ProcessLayout::kV2;
  std::string path_;
  StringList tried_;
  StringList missing_;
};

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_LIBRARY_H_
