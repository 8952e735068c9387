// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/nvml/nvml_facts.h"

#include <array>

#include "base/format.h"
#include "witness/nvml/nvml_errors.h"

namespace gpuwhy::nvml {
namespace {

// nvmlBrandType_t
constexpr std::array<const char*, 17> kBrands = {
    "unknown",    "Quadro",       "Tesla",      "NVS",         "GRID",       "GeForce",
    "Titan",      "NVIDIA vApps", "NVIDIA vPC", "NVIDIA vCS",  "NVIDIA vWS", "NVIDIA Cloud Gaming",
    "Quadro RTX", "NVIDIA RTX",   "NVIDIA",     "GeForce RTX", "Titan RTX",
};
// nvmlComputeMode_t
constexpr std::array<const char*, 4> kComputeModes = {"default", "exclusive-thread", "prohibited", "exclusive-process"};
// nvmlDriverModel_t; WDM is what nvidia-smi calls TCC
constexpr std::array<const char*, 3> kDriverModels = {"WDDM", "TCC", "MCDM"};
// nvmlGpuVirtualizationMode_t, in the words of nvidia-smi -q
constexpr std::array<const char*, 5> kVirtualizationModes = {"None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA"};

// Sends facts about one GPU.
class FactWriter {
 public:
  FactWriter(const Entity& entity, EvidenceSink& sink) : entity_(entity), sink_(sink) {}

  void Put(const char* name, Return code, Scalar value) {
    sink_.AddFact(name, entity_, code == kSuccess ? Value::Of(std::move(value)) : MissingFor(code), Source::kDriver);
  }
  void Integer(const char* name, Return code, unsigned value) { Put(name, code, static_cast<int64_t>(value)); }
  void Scaled(const char* name, Return code, unsigned value, double factor) { Put(name, code, value * factor); }
  void Flag(const char* name, Return code, unsigned value) { Put(name, code, value != 0); }
  template <size_t N>
  void Word(const char* name, Return code, unsigned value, const std::array<const char*, N>& words) {
    Put(name, code, value < N ? std::string(words.at(value)) : Format("number {}", value));
  }

 private:
  const Entity& entity_;
  EvidenceSink& sink_;
};

// Text answers end with a zero by contract; a driver that forgets it must not make us read on.
template <size_t N, typename Function>
std::string TextOf(Return* code, const Function& ask) {
  char buffer[N + 1] = {};
  *code = ask(buffer, static_cast<unsigned>(N));
  return *code == kSuccess ? std::string(buffer) : std::string();
}

std::string DeviceText(Return* code, Api::GetText* function, DeviceHandle handle) {
  return TextOf<96>(code, [&](char* out, unsigned size) { return Call(function, handle, out, size); });
}

std::string BusId(const Api& api, DeviceHandle handle, Return* code) {
  PciInfo info = {};
  *code = Call(api.pci_info, handle, &info);
  if (*code != kSuccess) return "";
  info.bus_id[sizeof info.bus_id - 1] = info.bus_id_legacy[sizeof info.bus_id_legacy - 1] = '\0';
  // The functions before _v3 fill the short form alone.
  const std::string modern = info.bus_id;
  return modern.find(':') != std::string::npos ? modern : info.bus_id_legacy;
}

void AddIdentity(const Api& api, const Device& device, FactWriter& write) {
  Return code = kSuccess;
  write.Put("gpu.name", device.name.empty() ? kUnknownError : kSuccess, device.name);
  const std::string bus_id = BusId(api, device.handle, &code);
  write.Put("gpu.bus_id", code, bus_id);
  unsigned value = 0;
  code = Call(api.index, device.handle, &value);
  write.Integer("gpu.index", code, value);
  code = Call(api.minor_number, device.handle, &value);
  write.Integer("gpu.minor", code, value);
  code = Call(api.brand, device.handle, &value);
  write.Word("gpu.brand", code, value, kBrands);
  int major = 0, minor = 0;
  code = Call(api.compute_capability, device.handle, &major, &minor);
  write.Put("gpu.compute_capability", code, Format("{}.{}", major, minor));
}

// UUIDs of the MIG devices, which frameworks see in place of the GPU.
StringList MigDevices(const Api& api, DeviceHandle handle, Return* code) {
  StringList out;
  unsigned limit = 0;
  *code = Call(api.mig_limit, handle, &limit);
  for (unsigned at = 0; *code == kSuccess && at < limit; ++at) {
    DeviceHandle slice = nullptr;
    if (Call(api.mig_device, handle, at, &slice) != kSuccess) continue;
    Return text_code = kSuccess;
    const std::string uuid = DeviceText(&text_code, api.uuid, slice);
    out.push_back(text_code == kSuccess ? uuid : Format("slice {} ({})", at, Explain(text_code)));
  }
  return out;
}

// A vGPU needs a licence; which of the products it has is of no matter here. Asked of vGPUs alone: others have none.
void AddLicence(const Api& api, const Device& device, FactWriter& write) {
  unsigned mode = 0;
  Return code = Call(api.virtualization_mode, device.handle, &mode);
  write.Word("gpu.virtualization_mode", code, mode, kVirtualizationModes);
  if (code != kSuccess || mode != kVirtualizationVgpu) return;
  LicensableFeatures answer = {};
  code = Call(api.licensable_features, device.handle, &answer);
  if (code == kSuccess && (answer.supported == 0 || answer.count == 0)) code = kNotSupported;
  bool licensed = false;
  for (unsigned at = 0; code == kSuccess && at < answer.count && at < kMostLicensableFeatures; ++at)
    licensed = licensed || answer.features[at].licensed != 0;
  write.Put("gpu.vgpu.license", code, std::string(licensed ? "Licensed" : "Unlicensed"));
}

void AddModes(const Api& api, const Device& device, FactWriter& write) {
  unsigned value = 0, pending = 0;
  Return code = Call(api.mig_mode, device.handle, &value, &pending);
  write.Flag("gpu.mig.mode", code, value);
  if (device.mig) {
    StringList slices = MigDevices(api, device.handle, &code);
    write.Put("gpu.mig.instances", code, std::move(slices));
  }
  code = Call(api.compute_mode, device.handle, &value);
  write.Word("gpu.compute_mode", code, value, kComputeModes);
  code = Call(api.driver_model, device.handle, &value, &pending);
  write.Word("gpu.driver_model", code, value, kDriverModels);
  code = Call(api.persistence_mode, device.handle, &value);
  write.Flag("gpu.persistence_mode", code, value);
}

void AddErrorCounts(const Api& api, const Device& device, FactWriter& write) {
  unsigned value = 0, pending = 0;
  Return code = Call(api.ecc_mode, device.handle, &value, &pending);
  write.Flag("gpu.ecc.mode", code, value);
  unsigned long long errors = 0;
  code = Call(api.ecc_errors, device.handle, kErrorsCorrected, kVolatileEcc, &errors);
  write.Put("gpu.ecc.corrected", code, static_cast<int64_t>(errors));
  code = Call(api.ecc_errors, device.handle, kErrorsUncorrected, kVolatileEcc, &errors);
  write.Put("gpu.ecc.uncorrected", code, static_cast<int64_t>(errors));
}

void AddLimits(const Api& api, const Device& device, FactWriter& write) {
  unsigned value = 0;
  Return code = Call(api.power_limit, device.handle, &value);
  write.Scaled("gpu.power.limit.watts", code, value, 1e-3);
  code = Call(api.power_default_limit, device.handle, &value);
  write.Scaled("gpu.power.default_limit.watts", code, value, 1e-3);
  const std::pair<const char*, Api::GetUnsigned*> links[] = {
      {"gpu.pcie.generation.current", api.pcie_generation},
      {"gpu.pcie.generation.max", api.pcie_generation_max},
      {"gpu.pcie.width.current", api.pcie_width},
      {"gpu.pcie.width.max", api.pcie_width_max},
  };
  for (const auto& [name, function] : links) {
    code = Call(function, device.handle, &value);
    write.Integer(name, code, value);
  }
}

void AddCeilings(const Api& api, const Device& device, FactWriter& write) {
  unsigned value = 0;
  Return code = Call(api.temperature_threshold, device.handle, kThresholdSlowdown, &value);
  write.Scaled("gpu.temperature.slowdown.celsius", code, value, 1);
  code = Call(api.max_clock, device.handle, kClockSm, &value);
  write.Scaled("gpu.clock.sm.max.hertz", code, value, 1e6);
}

void AddMemory(const Api& api, const Device& device, FactWriter& write) {
  MemoryV2 modern = {};
  modern.version = StructVersion<MemoryV2>(2);
  Return code = Call(api.memory_v2, device.handle, &modern);
  const Return reserved_code = code;
  uint64_t total = modern.total;
  if (code != kSuccess && code != kGpuIsLost) {
    MemoryV1 old = {};
    code = Call(api.memory, device.handle, &old);
    total = old.total;
  }
  // Chips that share the host's memory have none of their own (GB10): a total of 0 is no size.
  if (code == kSuccess && total == 0) code = kNotSupported;
  write.Put("gpu.memory.total.bytes", code, static_cast<int64_t>(total));
  write.Put("gpu.memory.reserved.bytes", code == kSuccess ? reserved_code : code,
            static_cast<int64_t>(modern.reserved));
}

}  // namespace

std::string DriverVersion(const Library& library) {
  Return code = kSuccess;
  return TextOf<80>(&code, [&](char* out, unsigned size) { return Call(library.api().driver_version, out, size); });
}

void AddDriverFacts(const Library& library, Return init, EvidenceSink& sink) {
  const Entity host = Entity::Host();
  const auto put = [&](const char* name, Value value) { sink.AddFact(name, host, std::move(value), Source::kDriver); };
  put("driver.nvml.tried", Value::Of(library.tried()));
  put("driver.nvml.path", library.loaded() ? Value::Of(library.path())
                                           : Value::Missing(State::kNotFound, "no path tried holds the NVML library"));
  put("driver.nvml.ok", Value::Of(init == kSuccess));
  put("driver.nvml.error", Value::Of(static_cast<int64_t>(init)));
  put("driver.nvml.error_text", Value::Of(Explain(init)));
  if (!library.loaded()) return;
  put("driver.nvml.missing_functions", Value::Of(library.missing()));
  Return code = kSuccess;
  const Api& api = library.api();
  const auto text = [&](const char* name, Return (*function)(char*, unsigned)) {
    const std::string value = TextOf<80>(&code, [&](char* out, unsigned size) { return Call(function, out, size); });
    put(name, code == kSuccess ? Value::Of(value) : MissingFor(code));
  };
  text("driver.nvml.version", api.nvml_version);
  if (init != kSuccess) return;
  text("driver.version", api.driver_version);
  int cuda = 0;
  code = Call(api.cuda_version, &cuda);
  put("driver.cuda_version",
      code == kSuccess ? Value::Of(Format("{}.{}", cuda / 1000, cuda % 1000 / 10)) : MissingFor(code));
}

Device Identify(const Library& library, DeviceHandle handle) {
  const Api& api = library.api();
  Device out;
  out.handle = handle;
  Return code = kSuccess;
  out.name = DeviceText(&code, api.name, handle);
  out.bus_id = BusId(api, handle, &code);
  std::string id = DeviceText(&code, api.uuid, handle);
  if (id.empty()) id = out.bus_id;
  out.entity = Entity::Gpu(id);
  unsigned mode = 0, pending = 0;
  out.mig = Call(api.mig_mode, handle, &mode, &pending) == kSuccess && mode == 1;
  return out;
}

void AddDeviceFacts(const Library& library, const Device& device, bool brief, EvidenceSink& sink) {
  FactWriter write(device.entity, sink);
  AddIdentity(library.api(), device, write);
  AddMemory(library.api(), device, write);
  AddModes(library.api(), device, write);
  AddLicence(library.api(), device, write);
  AddLimits(library.api(), device, write);
  if (brief) return;
  AddErrorCounts(library.api(), device, write);
  AddCeilings(library.api(), device, write);
}

}  // namespace gpuwhy::nvml
