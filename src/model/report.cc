// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include <array>

namespace gpuwhy {

std::string_view GpuUsedName(GpuUsed used) {
  constexpr std::array<std::string_view, 4> kNames = {"unknown", "no", "partly", "yes"};
  return kNames[static_cast<size_t>(used)];
}

std::string_view SeverityName(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames = {"info", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

}  // namespace gpuwhy
