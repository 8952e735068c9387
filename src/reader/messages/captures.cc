// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/messages/captures.h"

#include <algorithm>

namespace gpuwhy::messages {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool AcceptsChar(CaptureKind kind, char c) {
  switch (kind) {
    case CaptureKind::kWord:
      return c != ' ';
    case CaptureKind::kVersion:
      return IsDigit(c) || IsLetter(c) || c == '.' || c == '_' || c == '+' || c == '-';
    case CaptureKind::kCount:
      return IsDigit(c);
    default:
      return true;
  }
}

// Length of the size that the text begins with: a number, perhaps a blank, a unit; 0 when there is none.
size_t SizeLength(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && (IsDigit(text[at]) || ((text[at] == '.' || text[at] == ',') && at > 0))) ++at;
  if (at == 0) return 0;
  if (at < text.size() && text[at] == ' ') ++at;
  const size_t unit = at;
  while (at < text.size() && IsLetter(text[at])) ++at;
  return at == unit ? 0 : at;
}

std::string_view LastWord(std::string_view text) {
  const size_t blank = text.rfind(' ');
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

std::string_view LastSize(std::string_view before) {
  const std::string_view word = LastWord(before);
  if (Accepts(CaptureKind::kSize, word)) return word;
  if (word.size() + 1 >= before.size()) return {};
  const std::string_view number = LastWord(before.substr(0, before.size() - word.size() - 1));
  const std::string_view both = before.substr(before.size() - word.size() - 1 - number.size());
  // "(530.00 MiB": a bracket may stand in front of the number.
  const size_t digit = both.find_first_of("0123456789");
  if (digit == std::string_view::npos) return {};
  return Accepts(CaptureKind::kSize, both.substr(digit)) ? both.substr(digit) : std::string_view{};
}

}  // namespace

bool Accepts(CaptureKind kind, std::string_view text) {
  if (text.empty()) return false;
  if (kind == CaptureKind::kSize) return SizeLength(text) == text.size();
  if (kind == CaptureKind::kCount && text[0] == '0') return false;
  return std::all_of(text.begin(), text.end(), [kind](char c) { return AcceptsChar(kind, c); });
}

std::string_view TakeFirst(CaptureKind kind, std::string_view rest) {
  if (kind == CaptureKind::kSize) return rest.substr(0, SizeLength(rest));
  size_t size = 0;
  while (size < rest.size() && AcceptsChar(kind, rest[size])) ++size;
  std::string_view text = rest.substr(0, size);
  while (kind == CaptureKind::kVersion && !text.empty() && (text.back() == '.' || text.back() == '-')) {
    text.remove_suffix(1);
  }
  if (kind == CaptureKind::kText && text.size() > 1 && text.back() == '.') text.remove_suffix(1);
  return Accepts(kind, text) ? text : std::string_view{};
}

std::string_view TakeLast(CaptureKind kind, std::string_view before) {
  if (kind == CaptureKind::kSize) return LastSize(before);
  size_t begin = before.size();
  while (begin > 0 && AcceptsChar(kind, before[begin - 1])) --begin;
  const std::string_view text = before.substr(begin);
  return Accepts(kind, text) ? text : std::string_view{};
}

}  // namespace gpuwhy::messages
