// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#define FMT_HEADER_ONLY 1  // Debian ships no static fmt: its code is compiled here, once
#include "base/format.h"

#include <fmt/format.h>

namespace gpuwhy {

std::string VFormat(fmt::string_view format, fmt::format_args arguments) { return fmt::vformat(format, arguments); }

}  // namespace gpuwhy
