// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "knowledge/builds.h"

#include "knowledge/numbers.h"

namespace gpuwhy::knowledge {
namespace {

bool Digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// from <= version <= to, by major and minor number.
bool InRange(const FrameworkBuild& build, const Numbers& version) {
  const Numbers minor{version[0], version[1]};
  const std::optional<Numbers> from = ParseNumbers(build.from), to = ParseNumbers(build.to);
  return from && *from <= minor && (build.to.empty() || (to && minor <= *to));
}

bool FitsOs(const FrameworkBuild& build, std::string_view os) { return build.os == "any" || build.os == os; }

}  // namespace

const FrameworkBuild* FindBuild(std::string_view framework, std::string_view version, std::string_view os) {
  const std::optional<Numbers> numbers = ParseNumbers(version);
  if (!numbers) return nullptr;
  const size_t plus = version.find('+');
  const std::string_view local = plus == std::string_view::npos ? "" : version.substr(plus + 1);
  for (const FrameworkBuild& build : FrameworkBuilds()) {
    if (build.framework != framework || !InRange(build, *numbers) || !FitsOs(build, os)) continue;
    const bool plain = build.variant == "pypi" || (build.framework == "tensorflow");
    if (local.empty() ? plain : build.variant == local) return &build;
  }
  return nullptr;
}

std::optional<std::string> CudaOfLocalVersion(std::string_view version) {
  const size_t plus = version.find('+');
  if (plus == std::string_view::npos) return std::nullopt;
  std::string_view local = version.substr(plus + 1);
  local = local.substr(0, local.find_first_of(".-_"));
  if (local == "cpu") return "";
  if (local.substr(0, 2) != "cu" || !Digits(local.substr(2)) || local.size() < 4 || local.size() > 5)
    return std::nullopt;
  const std::string_view digits = local.substr(2);  // 92, 102, 126: the last digit is the minor version
  return std::string(digits.substr(0, digits.size() - 1)) + "." + std::string(digits.substr(digits.size() - 1));
}

std::string CapabilityOf(std::string_view arch) {
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (arch.substr(0, prefix.size()) != prefix) continue;
    std::string_view digits = arch.substr(prefix.size());
    while (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) digits.remove_suffix(1);  // sm_90a
    if (!Digits(digits) || digits.size() < 2 || digits.size() > 3) return "";
    return std::string(digits.substr(0, digits.size() - 1)) + "." + std::string(digits.substr(digits.size() - 1));
  }
  const size_t dot = arch.find('.');
  const bool numbers = dot != std::string_view::npos && Digits(arch.substr(0, dot)) && Digits(arch.substr(dot + 1));
  return numbers ? std::string(arch) : "";
}

std::optional<bool> RunsOn(std::string_view arch, std::string_view capability) {
  const std::optional<Numbers> code = ParseNumbers(arch), gpu = ParseNumbers(capability);
  if (!code || !gpu) return std::nullopt;
  return (*code)[0] == (*gpu)[0] && (*code)[1] <= (*gpu)[1];
}

Cover CoverOf(std::string_view archs, std::string_view capability) {
  const std::optional<Numbers> gpu = ParseNumbers(capability);
  if (archs.empty() || !gpu) return Cover::kUnknown;
  Cover best = Cover::kNone;
  while (!archs.empty()) {
    const size_t end = archs.find(' ');
    const std::string_view one = archs.substr(0, end);
    archs = end == std::string_view::npos ? "" : archs.substr(end + 1);
    const std::optional<Numbers> code = ParseNumbers(one);
    if (!code) continue;
    if (RunsOn(one, capability) == true) return Cover::kMachineCode;
    const bool ptx = one.size() > 4 && one.substr(one.size() - 4) == "+PTX";
    if (ptx && *code < *gpu) best = Cover::kPtxOnly;
  }
  return best;
}

}  // namespace gpuwhy::knowledge
