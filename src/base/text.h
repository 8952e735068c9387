// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_TEXT_H_
#define GPUWHY_BASE_TEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuwhy {

std::string_view Trim(std::string_view text);
std::vector<std::string_view> Split(std::string_view text, char separator);
// Lines without their line ends ("\n" or "\r\n").
std::vector<std::string_view> Lines(std::string_view text);
bool Contains(std::string_view text, std::string_view part);
// Whole text as a number, nothing otherwise. Locale does not matter.
std::optional<long long> ParseInt(std::string_view text, int base = 10);
std::optional<double> ParseDouble(std::string_view text);
std::string Lower(std::string_view text);
std::string Join(const std::vector<std::string>& parts, std::string_view between);

// A dotted version such as 12.4, 580.159.04 or 2.15.0+cu130: the leading numbers, text behind them ignored.
struct Version {
  std::vector<int> parts;
  int major() const { return parts.empty() ? 0 : parts[0]; }
  int minor() const { return parts.size() < 2 ? 0 : parts[1]; }
};
std::optional<Version> ParseVersion(std::string_view text);
// < 0, 0, > 0; missing parts count as 0.
int Compare(const Version& a, const Version& b);

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_TEXT_H_
