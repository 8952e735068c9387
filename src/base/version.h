// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_VERSION_H_
#define GPUWHY_BASE_VERSION_H_

#include <string_view>

namespace gpuwhy {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_VERSION_H_
