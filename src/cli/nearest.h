// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_CLI_NEAREST_H_
#define GPUWHY_CLI_NEAREST_H_

#include <string>
#include <string_view>
#include <vector>

namespace gpuwhy::cli {

// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other.
size_t EditDistance(std::string_view from, std::string_view to);

// The candidate that the user most likely meant: one that begins with the word, else the fewest edits; the first of
// equals. "" without candidates.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace gpuwhy::cli

#endif  // GPUWHY_CLI_NEAREST_H_
