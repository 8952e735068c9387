// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_FORMAT_H_
#define GPUWHY_BASE_FORMAT_H_

#include <fmt/core.h>

#include <string>

namespace gpuwhy {

std::string VFormat(fmt::string_view format, fmt::format_args arguments);

// std::format for compilers that lack it (GCC 10 and 12): the format string is checked at compile time.
template <typename... Args>
std::string Format(fmt::format_string<Args...> format, Args&&... arguments) {
  return VFormat(format, fmt::make_format_args(arguments...));
}

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_FORMAT_H_
