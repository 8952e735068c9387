// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/driver_linux.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "witness/os/host_facts.h"
#include "witness/os/libraries_linux.h"

namespace gpuwhy::os {

std::optional<std::string> DriverVersion(std::string_view text) {
  for (const std::string_view line : Lines(text)) {
    if (!Contains(line, "NVRM version")) continue;
    for (const std::string_view word : Split(line, ' ')) {
      if (!Contains(word, ".") || word.find_first_not_of("0123456789.") != std::string_view::npos) continue;
      const std::optional<Version> version = ParseVersion(word);
      if (version && version->parts.size() >= 2) return std::string(word);
    }
  }
  return std::nullopt;
}

bool IsDriverModule(std::string_view file) {
  const size_t dot = file.find(".ko");
  if (dot == std::string_view::npos) return false;
  const std::string_view name = file.substr(0, dot);
  if (name == "nvidia" || name == "nvidia-current") return true;
  // Debian keeps old drivers apart: nvidia-legacy-390xx, nvidia-tesla-470; their parts end in -uvm, -drm, -modeset,
  // -peermem.
  if (name.substr(0, 14) != "nvidia-legacy-" && name.substr(0, 13) != "nvidia-tesla-") return false;
  return std::count(name.begin(), name.end(), '-') == 2;
}

namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";

struct PciGpu {
  std::string address;
  std::string vendor, device;  // "10de", "2335"
  std::string driver;          // "" = none bound
  std::string power;           // runtime_status
};

std::string Hex(std::string_view text) {
  text = Trim(text);
  if (text.substr(0, 2) == "0x") text.remove_prefix(2);
  return Lower(text);
}

// uevent is one plain text that holds the driver's name; the link `driver` says the same.
std::string BoundDriver(const std::string& folder) {
  const Result<std::string> text = ReadFile(folder + "/uevent", 4096);
  if (!text) return "";
  for (const std::string_view line : Lines(*text)) {
    if (line.substr(0, 7) == "DRIVER=") return std::string(line.substr(7));
  }
  return "";
}

// Display controllers (PCI class 03: VGA, XGA, 3D, other). `unreadable` counts devices whose class nobody told.
std::vector<PciGpu> ReadBus(const HostRoot& root, const std::vector<std::string>& addresses, size_t* unreadable,
                            std::string* why) {
  std::vector<PciGpu> gpus;
  for (const std::string& address : addresses) {
    const std::string folder = root.Path(kPciDevices) + "/" + address;
    const Result<std::string> kind = ReadFile(folder + "/class", 64);
    const Result<std::string> vendor = ReadFile(folder + "/vendor", 64);
    if (!kind || !vendor) {
      ++*unreadable;
      *why = (kind ? vendor.error() : kind.error()).message;
      continue;
    }
    if (Hex(*kind).substr(0, 2) != "03") continue;
    const Result<std::string> device = ReadFile(folder + "/device", 64);
    const Result<std::string> power = ReadFile(folder + "/power/runtime_status", 64);
    gpus.push_back({address, Hex(*vendor), device ? Hex(*device) : "", BoundDriver(folder),
                    power ? std::string(Trim(*power)) : ""});
  }
  return gpus;
}

std::string Describe(const PciGpu& gpu) { return Format("{} {}:{}", gpu.address, gpu.vendor, gpu.device); }

Value Suspended(const std::vector<PciGpu>& gpus) {
  bool known = false;
  for (const PciGpu& gpu : gpus) {
    if (gpu.power == "suspended") return Value::Of(true);
    known = known || !gpu.power.empty();
  }
  return known ? Value::Of(false)
               : Value::Missing(State::kNotFound, "no NVIDIA device with a power state on the PCI bus");
}

// Facts about the bus; returns the NVIDIA devices.
std::vector<PciGpu> AddBusFacts(const HostRoot& root, HostFacts& facts) {
  const std::string where(kPciDevices);
  const Result<std::vector<std::string>> addresses = ListFolder(root.Path(kPciDevices));
  if (!addresses) {
    for (const char* name : {"host.gpu.pci.count", "host.gpu.pci.devices", "host.gpu.other", "host.driver.suspended"})
      facts.Add(name, addresses.error());
    return {};
  }
  size_t unreadable = 0;
  std::string why;
  std::vector<PciGpu> nvidia;
  StringList names, others;
  for (PciGpu& gpu : ReadBus(root, *addresses, &unreadable, &why)) {
    if (gpu.vendor == "1002" || gpu.vendor == "8086")
      others.push_back((gpu.vendor == "1002" ? "AMD " : "Intel ") + Describe(gpu));
    if (gpu.vendor != "10de") continue;
    names.push_back(Describe(gpu));
    nvidia.push_back(std::move(gpu));
  }
  if (nvidia.empty() && unreadable > 0) {
    const Value unknown = Value::Missing(
        State::kNoPermission, Format("{} of {} PCI devices cannot be read: {}", unreadable, addresses->size(), why));
    facts.Add("host.gpu.pci.count", unknown, where);
    facts.Add("host.gpu.pci.devices", unknown, where);
  } else {
    facts.Add("host.gpu.pci.count", static_cast<int64_t>(nvidia.size()), where);
    facts.Add("host.gpu.pci.devices", names, where);
  }
  facts.Add("host.gpu.other", others, where);
  facts.Add("host.driver.suspended", Suspended(nvidia), where);
  return nvidia;
}

bool HasModule(std::string_view modules, std::string_view name) {
  for (const std::string_view line : Lines(modules)) {
    if (line.substr(0, name.size()) == name && line.size() > name.size() && line[name.size()] == ' ') return true;
  }
  return false;
}

void AddLoadedModules(const HostRoot& root, const std::vector<PciGpu>& gpus, HostFacts& facts) {
  const Result<std::string> modules = ReadFile(root.Path("/proc/modules"));
  const bool folder =
      FileExists(root.Path("/sys/module/nvidia")) || FileExists(root.Path("/proc/driver/nvidia/version"));
  const bool loaded = folder || (modules && HasModule(*modules, "nvidia"));
  if (loaded || modules || FileExists(root.Path("/sys/module"))) {
    facts.Add("host.driver.module", loaded, modules ? "/proc/modules" : "/sys/module");
  } else {
    facts.Add("host.driver.module", modules.error());
  }
  std::string other;
  for (const PciGpu& gpu : gpus) {
    if (!gpu.driver.empty() && gpu.driver != "nvidia") other = gpu.driver;
  }
  if (other.empty() && !loaded && modules && HasModule(*modules, "nouveau")) other = "nouveau";
  facts.Add("host.driver.module_other", other);
}

// "updates/dkms/nvidia.ko.zst: kernel/drivers/..." : the file name before the colon.
bool ListsDriver(std::string_view dependencies) {
  for (const std::string_view line : Lines(dependencies)) {
    const std::string_view path = line.substr(0, line.find(':'));
    const size_t slash = path.rfind('/');
    if (IsDriverModule(slash == std::string_view::npos ? path : path.substr(slash + 1))) return true;
  }
  return false;
}

void AddModulesOnDisk(const HostRoot& root, HostFacts& facts) {
  const Result<std::string> release = ReadFile(root.Path("/proc/sys/kernel/osrelease"), 4096);
  if (!release) return facts.Add("host.driver.module_on_disk", release.error());
  const std::string kernel(Trim(*release));
  const std::string where = "/lib/modules/" + kernel + "/modules.dep";
  const Result<std::string> dependencies = ReadFile(root.Path(where));
  if (!dependencies) return facts.Add("host.driver.module_on_disk", ValueOf(dependencies.error()), where);
  const bool found = ListsDriver(*dependencies);
  facts.Add("host.driver.module_on_disk", found, where);
  if (found) return;
  StringList others;
  const Result<std::vector<std::string>> kernels = ListFolder(root.Path("/lib/modules"));
  for (const std::string& name : kernels ? *kernels : std::vector<std::string>()) {
    const Result<std::string> list = ReadFile(root.Path("/lib/modules/" + name + "/modules.dep"));
    if (name != kernel && list && ListsDriver(*list)) others.push_back(name);
  }
  facts.Add("host.driver.module_other_kernels", others, "/lib/modules");
}

void AddDriverFiles(const HostRoot& root, HostFacts& facts) {
  const std::string where = "/proc/driver/nvidia/version";
  const Result<std::string> text = ReadFile(root.Path(where), 1 << 16);
  if (text) {
    const std::optional<std::string> version = DriverVersion(*text);
    facts.Add("host.driver.version",
              version ? Value::Of(*version) : Value::Missing(State::kUnknown, "no version in " + where), where);
    facts.Add("host.driver.open_module", Contains(*text, "Open Kernel Module"), where);
  } else {
    facts.Add("host.driver.version", ValueOf(text.error()), where);
  }
  const Result<std::string> parameters = ReadFile(root.Path("/proc/driver/nvidia/params"), 1 << 16);
  if (!parameters) return facts.Add("host.driver.params.profiling_admin_only", parameters.error());
  for (const std::string_view line : Lines(*parameters)) {
    if (line.substr(0, 21) != "RmProfilingAdminOnly:") continue;
    return facts.Add("host.driver.params.profiling_admin_only", Trim(line.substr(21)) != "0",
                     "/proc/driver/nvidia/params");
  }
  facts.Add("host.driver.params.profiling_admin_only",
            Value::Missing(State::kUnsupported, "this driver has no RmProfilingAdminOnly"));
}

void AddDriverLibraries(const HostRoot& root, HostFacts& facts) {
  const std::vector<std::string> folders = LinkerFolders(root);
  StringList found, tried;
  for (const std::string& folder : folders) {
    const std::string path = folder + "/libcuda.so.1";
    tried.push_back(path);
    if (FileExists(root.Path(path))) found.push_back(path);
  }
  facts.Add("host.driver.libcuda", found);
  facts.Add("host.driver.libcuda.tried", tried);
  const std::vector<VersionedLibrary> cuda = FindVersionedLibraries(root, folders, "libcuda");
  const std::vector<VersionedLibrary> nvml = FindVersionedLibraries(root, folders, "libnvidia-ml");
  const Value none = Value::Missing(
      State::kNotFound, "no libcuda.so or libnvidia-ml.so with a version in its name in the linker's folders");
  facts.Add("host.driver.libcuda.version", cuda.empty() ? none : Value::Of(cuda[0].version),
            cuda.empty() ? "" : cuda[0].path);
  const std::vector<VersionedLibrary>& chosen = nvml.empty() ? cuda : nvml;
  facts.Add("host.driver.library_version", chosen.empty() ? none : Value::Of(chosen[0].version),
            chosen.empty() ? "" : chosen[0].path);
}

void AddDeviceNodes(const HostRoot& root, HostFacts& facts) {
  const Result<std::vector<std::string>> names = ListFolder(root.Path("/dev"));
  if (!names) {
    facts.Add("host.device_nodes", names.error());
    facts.Add("host.device_nodes.unreadable", names.error());
    return;
  }
  StringList nodes, unreadable;
  for (const std::string& name : *names) {
    if (name.compare(0, 6, "nvidia") != 0) continue;
    const std::string path = "/dev/" + name;
    nodes.push_back(path);
    // The capability nodes of MIG (a folder) belong to root by design. access() never opens: opening wakes a GPU.
    if (name == "nvidia-caps" || name == "nvidia-caps-imex-channels") continue;
    if (faccessat(AT_FDCWD, root.Path(path).c_str(), R_OK | W_OK, AT_EACCESS) != 0) unreadable.push_back(path);
  }
  facts.Add("host.device_nodes", nodes, "/dev");
  facts.Add("host.device_nodes.unreadable", unreadable, "/dev");
}

void AddSecureBoot(const HostRoot& root, HostFacts& facts) {
  // Four bytes of attributes, then the value (Linux Documentation/filesystems/efivarfs.rst; GUID: UEFI global
  // variable).
  const std::string where = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  const Result<std::string> value = ReadFile(root.Path(where), 64);
  if (!value) return facts.Add("host.secure_boot", ValueOf(value.error()), where);
  if (value->size() != 5)
    return facts.Add("host.secure_boot", Value::Missing(State::kUnknown, "unexpected size of the EFI variable"), where);
  facts.Add("host.secure_boot", (*value)[4] == 1, where);
}

}  // namespace

void AddDriverFacts(const HostRoot& root, EvidenceSink& sink) {
  HostFacts facts(sink);
  const std::vector<PciGpu> gpus = AddBusFacts(root, facts);
  AddLoadedModules(root, gpus, facts);
  AddModulesOnDisk(root, facts);
  AddDriverFiles(root, facts);
  AddDriverLibraries(root, facts);
  AddDeviceNodes(root, facts);
  AddSecureBoot(root, facts);
}

}  // namespace gpuwhy::os
