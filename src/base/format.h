// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_FORMAT_H_
#define GPUWHY_BASE_FORMAT_H_

#include <fmt/core.h>

#include <string>

namespace gpuwhy {

std::string VFormat(fmt::string_view format, fmt::format_args arguments);

// std::format for compilers that lack it (GCC 10 and 12). The format string is checked at compile time from fmt 8 on;
// Debian 11 has 7.
#if FMT_VERSION >= 80000
template <typename... Args>
std::string Format(fmt::format_string<Args...> format, Args&&... arguments) {
#else
template <typename... Args>
std::string Format(fmt::string_view format, Args&&... arguments) {
#endif
  return VFormat(format, fmt::make_format_args(arguments...));
}

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_FORMAT_H_
