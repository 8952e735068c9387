// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_KNOWLEDGE_NUMBERS_H_
#define GPUWHY_KNOWLEDGE_NUMBERS_H_

#include <array>
#include <optional>
#include <string_view>

// Dotted numbers for the look-ups of this folder, which depends on no other layer.
namespace gpuwhy::knowledge {

// The leading numbers of a version, up to four: 525.125.06, 12.1, 2.6.0+cu126 -> {2, 6, 0, 0}.
using Numbers = std::array<int, 4>;
std::optional<Numbers> ParseNumbers(std::string_view text);

}  // namespace gpuwhy::knowledge

#endif  // GPUWHY_KNOWLEDGE_NUMBERS_H_
