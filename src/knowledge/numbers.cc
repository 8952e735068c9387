// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "knowledge/numbers.h"

namespace gpuwhy::knowledge {

std::optional<Numbers> ParseNumbers(std::string_view text) {
  Numbers numbers{};
  size_t at = 0;
  for (size_t part = 0; part < numbers.size(); ++part) {
    const size_t begin = at;
    constexpr size_t kMostDigits = 8;  // fits an int, and no version has more
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      numbers[part] = numbers[part] * 10 + (text[at] - '0');
      if (++at - begin > kMostDigits) return std::nullopt;
    }
    if (at == begin) return part == 0 ? std::nullopt : std::optional<Numbers>(numbers);
    if (at >= text.size() || text[at] != '.') break;
    ++at;
  }
  return numbers;
}

}  // namespace gpuwhy::knowledge
