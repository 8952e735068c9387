// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/words.h"

#include <algorithm>

#include "base/text.h"

namespace gpuwhy {

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(" \t"); at != std::string_view::npos;
       at = text.find_first_not_of(" \t", at)) {
    const size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

Labelled SplitLabel(std::string_view line) {
  for (size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1)) {
    if (at + 1 == line.size() || line[at + 1] == ' ' || line[at + 1] == '\t')
      return {Trim(line.substr(0, at)), Trim(line.substr(at + 1))};
  }
  return {};
}

}  // namespace gpuwhy
