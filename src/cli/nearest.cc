// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/nearest.h"

#include <algorithm>
#include <numeric>

namespace gpuwhy::cli {

// Optimal string alignment: three rows of the usual table suffice.
size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> before(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[to.size()];
}

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_edits = static_cast<size_t>(-1);
  for (const std::string& candidate : candidates) {
    const bool begins = word.size() >= 2 && std::string_view(candidate).substr(0, word.size()) == word;
    const size_t edits = begins ? 0 : EditDistance(word.substr(0, 100), candidate);
    if (edits >= best_edits) continue;
    best = candidate;
    best_edits = edits;
  }
  return best;
}

}  // namespace gpuwhy::cli
