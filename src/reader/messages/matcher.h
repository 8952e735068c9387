// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_MESSAGES_MATCHER_H_
#define GPUWHY_READER_MESSAGES_MATCHER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/messages/catalogue.h"

namespace gpuwhy::messages {

// The line with every run of blanks and tabs as one blank, without blanks at the ends.
std::string SingleBlanks(std::string_view line);

// Captured texts in the order of the template; views into the line.
using Captures = std::vector<std::pair<std::string_view, std::string_view>>;

// More matches than that in one line are no more news.
inline constexpr size_t kMostMatches = 16;

// Looks for the template anywhere in a line that went through SingleBlanks, and for further ones behind it ("Process 1
// has 2 GiB ... Process 3 has 4 GiB"). A capture is as short as it can be and never empty; one at the end takes the
// rest of the line (of the word, of the version).
std::vector<Captures> Match(const Message& message, std::string_view line);

// Finds the messages that a line may hold, by four bytes of each: a line of noise costs one look-up a byte.
class GramIndex {
 public:
  explicit GramIndex(std::span<const Message> messages);
  // Calls found(index of the message) once for every message whose gram the line holds.
  template <typename Found>
  void Candidates(std::string_view line, Found found);

 private:
  static constexpr size_t kBuckets = 1U << 14U;
  static size_t Bucket(const char* bytes);

  std::span<const Message> messages_;
  std::vector<uint16_t> first_;  // of each bucket: position + 1 in order_, 0 = none
  std::vector<uint16_t> order_;  // messages, those of one bucket side by side
  std::vector<uint32_t> seen_;   // number of the last line that had the message as a candidate
  uint32_t line_ = 0;
};

template <typename Found>
void GramIndex::Candidates(std::string_view line, Found found) {
  ++line_;
  for (size_t at = 0; at + 4 <= line.size(); ++at) {
    const size_t bucket = Bucket(line.data() + at);
    for (size_t i = first_[bucket]; i != 0 && i <= order_.size(); ++i) {
      const uint16_t message = order_[i - 1];
      const std::string_view gram = messages_[message].gram;
      if (Bucket(gram.data()) != bucket) break;
      if (seen_[message] == line_ || line.substr(at, gram.size()) != gram) continue;
      seen_[message] = line_;
      found(message);
    }
  }
}

}  // namespace gpuwhy::messages

#endif  // GPUWHY_READER_MESSAGES_MATCHER_H_
