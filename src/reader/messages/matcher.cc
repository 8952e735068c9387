// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/messages/matcher.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace gpuwhy::messages {
namespace {

// Enough for every real line; a line made to match half of a template ten thousand times must not hang the reader.
constexpr int kMostAttempts = 200;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool Accepts(CaptureKind kind, char c) {
  if (kind == CaptureKind::kWord) return !IsBlank(c);
  if (kind != CaptureKind::kVersion) return true;
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
         c == '+' || c == '-';
}

bool Accepts(CaptureKind kind, std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [kind](char c) { return Accepts(kind, c); });
}

// A capture at the end of a template: as long as it can be, without the full stop that ends a sentence.
std::string_view LastCapture(CaptureKind kind, std::string_view rest) {
  size_t size = 0;
  while (size < rest.size() && Accepts(kind, rest[size])) ++size;
  std::string_view text = rest.substr(0, size);
  while (kind == CaptureKind::kVersion && !text.empty() && (text.back() == '.' || text.back() == '-')) {
    text.remove_suffix(1);
  }
  return text;
}

class Attempt {
 public:
  Attempt(std::span<const Piece> pieces, std::string_view line) : pieces_(pieces), line_(line) {}

  std::optional<Captures> Run() {
    if (!InOrder()) return std::nullopt;
    const bool leading = pieces_[0].literal.empty();
    const std::string_view literal = pieces_[leading ? 1 : 0].literal;
    for (size_t at = line_.find(literal); at != std::string_view::npos; at = line_.find(literal, at + 1)) {
      captures_.clear();
      if (leading && !CaptureBefore(at)) continue;
      if (Follow(leading ? 1 : 0, at + literal.size())) return std::move(captures_);
      if (++attempts_ > kMostAttempts) break;
    }
    return std::nullopt;
  }

 private:
  // Are all literals there, one behind the other? Cheap, and settles nearly all candidates.
  bool InOrder() const {
    size_t at = 0;
    for (const Piece& piece : pieces_) {
      at = line_.find(piece.literal, at);
      if (at == std::string_view::npos) return false;
      at += piece.literal.size();
    }
    return true;
  }

  // A template that begins with a capture: what stands before the first literal.
  bool CaptureBefore(size_t end) {
    size_t begin = end;
    while (begin > 0 && Accepts(pieces_[0].kind, line_[begin - 1])) --begin;
    if (begin == end) return false;
    captures_.emplace_back(pieces_[0].capture, line_.substr(begin, end - begin));
    return true;
  }

  // The literal of piece `index` ends at `at`: is the rest of the template there?
  bool Follow(size_t index, size_t at) {
    const Piece& piece = pieces_[index];
    if (piece.capture.empty()) return true;
    if (index + 1 == pieces_.size()) {
      const std::string_view text = LastCapture(piece.kind, line_.substr(at));
      if (text.empty()) return false;
      captures_.emplace_back(piece.capture, text);
      return true;
    }
    const std::string_view next = pieces_[index + 1].literal;
    for (size_t end = line_.find(next, at + 1); end != std::string_view::npos; end = line_.find(next, end + 1)) {
      if (++attempts_ > kMostAttempts) return false;
      const std::string_view text = line_.substr(at, end - at);
      if (!Accepts(piece.kind, text)) return false;  // a longer one would hold the same wrong character
      captures_.emplace_back(piece.capture, text);
      if (Follow(index + 1, end + next.size())) return true;
      captures_.pop_back();
    }
    return false;
  }

  std::span<const Piece> pieces_;
  std::string_view line_;
  Captures captures_;
  int attempts_ = 0;
};

}  // namespace

std::string SingleBlanks(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (const char c : line) {
    if (!IsBlank(c)) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::optional<Captures> Match(std::span<const Piece> pieces, std::string_view line) {
  return Attempt(pieces, line).Run();
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
