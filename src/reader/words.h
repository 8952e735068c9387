// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_WORDS_H_
#define GPUWHY_READER_WORDS_H_

#include <string_view>
#include <vector>

namespace gpuwhy {

// What stands between blanks and tabs.
std::vector<std::string_view> Words(std::string_view text);

inline bool StartsWith(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

// "Label : value" with any blanks around the first colon, which must have a blank, or the end, behind it. Both empty
// when there is none.
struct Labelled {
  std::string_view label, value;
};
Labelled SplitLabel(std::string_view line);

}  // namespace gpuwhy

#endif  // GPUWHY_READER_WORDS_H_
