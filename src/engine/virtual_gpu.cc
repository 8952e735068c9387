// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/virtual_gpu.h"

namespace gpuwhy {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool IsVirtualGpuName(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return false;
  std::string_view type = name.substr(dash + 1);
  if (type.size() > 3 && type.substr(type.size() - 2) == "ME") type.remove_suffix(2);  // a share of a MIG instance
  size_t digits = 0;
  while (digits < type.size() && IsDigit(type[digits])) ++digits;
  if (digits == 0 || digits == type.size()) return false;
  constexpr std::string_view kSeries = "QCBA";
  const std::string_view rest = type.substr(digits + 1);  // the number of displays: "1B4"
  return kSeries.find(type[digits]) != std::string_view::npos &&
         (rest.empty() || (rest.size() == 1 && IsDigit(rest[0])));
}

const Fact* VirtualGpu(const Evidence& evidence) {
  for (const Fact* name : evidence.All("gpu.name")) {
    if (IsVirtualGpuName(name->value.AsText().value_or(""))) return name;
  }
  return nullptr;
}

}  // namespace gpuwhy
