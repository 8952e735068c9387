// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/nvml/nvml_sleep.h"

#include <cctype>

#include "base/file.h"
#include "base/text.h"

namespace gpuwhy::nvml {
namespace {

constexpr const char* kFolder = "/sys/bus/pci/devices/";
constexpr const char* kNvidia = "0x10de";
constexpr const char* kDisplay = "0x03";  // class: VGA 0x0300, 3D 0x0302

std::string Attribute(const HostRoot& root, const std::string& address, const char* name) {
  const Result<std::string> text = ReadFile(root.Path(kFolder + address + "/" + name), 256);
  return text ? std::string(Trim(*text)) : std::string();
}

}  // namespace

std::vector<PciGpu> NvidiaOnBus(const HostRoot& root) {
  std::vector<PciGpu> out;
  const Result<std::vector<std::string>> names = ListFolder(root.Path(kFolder));
  if (!names) return out;
  for (const std::string& address : *names) {
    if (Attribute(root, address, "vendor") != kNvidia) continue;
    if (Attribute(root, address, "class").compare(0, 4, kDisplay) != 0) continue;
    out.push_back({address, IsAsleep(root, address)});
  }
  return out;
}

bool IsAsleep(const HostRoot& root, const std::string& address) {
  return Attribute(root, address, "power/runtime_status") == "suspended";
}

std::string NvmlBusId(const std::string& address) {
  std::string out = address;
  const size_t colon = out.find(':');
  if (colon != std::string::npos && colon < 8) out.insert(0, 8 - colon, '0');
  for (char& letter : out) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return out;
}

}  // namespace gpuwhy::nvml
