// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "model/comparison.h"

#include <array>

namespace gpuwhy {

std::string_view CompareResultName(CompareResult result) {
  constexpr std::array<std::string_view, 4> kNames = {"unknown", "no-difference", "faster", "slower"};
  return kNames[static_cast<size_t>(result)];
}

}  // namespace gpuwhy
