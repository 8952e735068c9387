// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/messages/matcher.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "reader/messages/captures.h"

namespace gpuwhy::messages {
namespace {

// Enough for every real line; a line made to match half of a template ten thousand times must not hang the reader.
constexpr int kMostAttempts = 200;
constexpr size_t kLongestSize = 32;

class Attempt {
 public:
  Attempt(const Message& message, std::string_view line) : pieces_(message.pieces), line_(line), message_(message) {}

  // Looks from `from` on. A match sets end().
  std::optional<Captures> Run(size_t from) {
    if (!InOrder(from)) return std::nullopt;
    const size_t first = pieces_[0].literal.empty() ? 1 : 0;
    const std::string_view literal = pieces_[first].literal;
    for (size_t at = line_.find(literal, from); at != std::string_view::npos; at = line_.find(literal, at + 1)) {
      if (message_.anchored && at != 0) break;
      captures_.clear();
      if (first == 1) {
        const std::string_view text = TakeLast(pieces_[0].kind, line_.substr(from, at - from));
        if (text.empty()) continue;
        captures_.emplace_back(pieces_[0].capture, text);
      }
      if (Follow(first, at + literal.size())) return std::move(captures_);
      if (++attempts_ > kMostAttempts) break;
    }
    return std::nullopt;
  }

  size_t end() const { return end_; }

 private:
  // Are all literals there, one behind the other? Cheap, and settles nearly all candidates.
  bool InOrder(size_t at) const {
    for (const Piece& piece : pieces_) {
      at = line_.find(piece.literal, at);
      if (at == std::string_view::npos) return false;
      at += piece.literal.size();
    }
    return true;
  }

  bool End(size_t at) {
    end_ = at;
    return true;
  }

  // The literal of piece `index` ends at `at`: is the rest of the template there?
  bool Follow(size_t index, size_t at) {
    const Piece& piece = pieces_[index];
    if (piece.capture.empty()) return End(at);
    if (index + 1 == pieces_.size()) {
      const std::string_view text = TakeFirst(piece.kind, line_.substr(at));
      if (text.empty()) return false;
      captures_.emplace_back(piece.capture, text);
      return End(at + text.size());
    }
    const std::string_view next = pieces_[index + 1].literal;
    for (size_t end = line_.find(next, at + 1); end != std::string_view::npos; end = line_.find(next, end + 1)) {
      if (++attempts_ > kMostAttempts) return false;
      const std::string_view text = line_.substr(at, end - at);
      if (!Accepts(piece.kind, text)) {
        // A size may hold the blank that the next literal begins with; anything else only gets worse.
        if (piece.kind == CaptureKind::kSize && text.size() < kLongestSize) continue;
        return false;
      }
      captures_.emplace_back(piece.capture, text);
      if (Follow(index + 1, end + next.size())) return true;
      captures_.pop_back();
    }
    return false;
  }

  std::span<const Piece> pieces_;
  std::string_view line_;
  const Message& message_;
  Captures captures_;
  size_t end_ = 0;
  int attempts_ = 0;
};

}  // namespace

std::string SingleBlanks(std::string_view line) {
  std::string text(line.size(), '\0');
  size_t size = 0;
  for (const char c : line) {
    if (c != ' ' && c != '\t') {
      text[size++] = c;
    } else if (size > 0 && text[size - 1] != ' ') {
      text[size++] = ' ';
    }
  }
  text.resize(size > 0 && text[size - 1] == ' ' ? size - 1 : size);
  return text;
}

std::vector<Captures> Match(const Message& message, std::string_view line) {
  std::vector<Captures> all;
  Attempt attempt(message, line);
  size_t from = 0;
  while (all.size() < kMostMatches) {
    std::optional<Captures> captures = attempt.Run(from);
    if (!captures) break;
    all.push_back(std::move(*captures));
    from = attempt.end();
  }
  return all;
}

size_t GramIndex::Bucket(const char* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return (word * 2654435761U) >> 18U;  // the golden ratio spreads neighbours; 14 bits remain
}

GramIndex::GramIndex(std::span<const Message> messages)
    : messages_(messages), first_(kBuckets, 0), order_(messages.size()), seen_(messages.size(), 0) {
  std::iota(order_.begin(), order_.end(), uint16_t{0});
  const auto bucket = [messages](uint16_t message) { return Bucket(messages[message].gram.data()); };
  std::stable_sort(order_.begin(), order_.end(), [&](uint16_t a, uint16_t b) { return bucket(a) < bucket(b); });
  for (size_t i = order_.size(); i > 0; --i) first_[bucket(order_[i - 1])] = static_cast<uint16_t>(i);
}

}  // namespace gpuwhy::messages
