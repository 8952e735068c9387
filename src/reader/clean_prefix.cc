// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/clean_prefix.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/text.h"

namespace gpuwhy {
namespace {

constexpr size_t kRun = 3;       // lines in a row that carry the same kind of prefix
constexpr size_t kLongest = 80;  // bytes of a prefix
constexpr size_t kMarkdown = 4;  // blanks of a code block

bool Digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Length of the beginning of `line` that looks like `pattern`: '9' a digit, 'A' a letter, anything else itself; 0 if it
// does not.
size_t Like(std::string_view line, std::string_view pattern) {
  if (line.size() < pattern.size()) return 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool fits = pattern[i] == '9'   ? Digit(line[i])
                      : pattern[i] == 'A' ? std::isalpha(static_cast<unsigned char>(line[i])) != 0
                                          : line[i] == pattern[i];
    if (!fits) return 0;
  }
  return pattern.size();
}

// The blank behind a prefix belongs to it; a line that was empty has lost it.
size_t WithBlank(std::string_view line, size_t length) {
  if (length == 0 || length == line.size()) return length;
  return line[length] == ' ' ? length + 1 : 0;
}

// "2024-05-01T10:00:00", a fraction, "Z" or an offset.
size_t Rfc3339(std::string_view line) {
  size_t at = Like(line, "9999-99-99T99:99:99");
  if (at == 0) return 0;
  if (at < line.size() && line[at] == '.') {
    for (++at; at < line.size() && Digit(line[at]);) ++at;
  }
  if (at < line.size() && line[at] == 'Z') return WithBlank(line, at + 1);
  for (const char* offset : {"+99:99", "-99:99", "+9999", "-9999"}) {
    if (const size_t length = Like(line.substr(at), offset)) return WithBlank(line, at + length);
  }
  return 0;
}

// "[10:00:00] ", "[2024-05-01 10:00:00] ", with or without a fraction.
size_t Bracketed(std::string_view line) {
  for (const char* pattern : {"[99:99:99", "[9999-99-99 99:99:99", "[9999-99-99T99:99:99"}) {
    size_t at = Like(line, pattern);
    if (at == 0) continue;
    while (at < line.size() && (Digit(line[at]) || line[at] == '.' || line[at] == ',')) ++at;
    return at < line.size() && line[at] == ']' ? WithBlank(line, at + 1) : 0;
  }
  return 0;
}

// "May 01 10:00:00 box python[123]: "; the kernel's own lines keep theirs, readers know it.
size_t Journal(std::string_view line) {
  size_t at = Like(line, "AAA 99 99:99:99 ");
  if (at == 0) at = Like(line, "AAA  9 99:99:99 ");
  if (at == 0) return 0;
  const size_t unit = line.find(' ', at);
  const size_t end = unit == std::string_view::npos ? unit : line.find(": ", unit);
  const bool bare = unit != std::string_view::npos && end == std::string_view::npos && line.back() == ':';
  const size_t stop = bare ? line.size() - 1 : end;
  if (stop == std::string_view::npos || stop > kLongest) return 0;
  const std::string_view name = line.substr(unit + 1, stop - unit - 1);
  if (name.empty() || Contains(name, " ") || name.substr(0, 6) == "kernel") return 0;
  return bare ? line.size() : stop + 2;
}

// "trainer-1  | ", "gpu_worker_1 | ": a name with a number at its end.
size_t Compose(std::string_view line) {
  size_t at = 0;
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  while (at < line.size() && in_name(line[at])) ++at;
  if (at < 3 || !Digit(line[at - 1]) || (line[at - 2] != '-' && line[at - 2] != '_')) return 0;
  const size_t name = at;
  while (at < line.size() && line[at] == ' ') ++at;
  return at > name && at < line.size() && line[at] == '|' ? WithBlank(line, at + 1) : 0;
}

using Prefix = size_t (*)(std::string_view);
constexpr Prefix kPrefixes[] = {&Compose, &Rfc3339, &Journal, &Bracketed};

void StripRuns(std::vector<TextLine>& lines, Prefix prefix) {
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = begin;
    while (end < lines.size() && prefix(lines[end].text) > 0) ++end;
    if (end - begin >= kRun) {
      for (size_t i = begin; i < end; ++i) lines[i].text.erase(0, prefix(lines[i].text));
    }
    begin = std::max(end, begin + 1);
  }
}

bool Blank(const TextLine& line) { return Trim(line.text).empty(); }
bool Indented(const TextLine& line) { return line.text.compare(0, kMarkdown, "    ") == 0; }

// A block of code in Markdown: a blank line, then lines that are all indented. Lists of "name : value" keep their
// indentation, which says what belongs to what (nvidia-smi -q).
void StripIndentation(std::vector<TextLine>& lines) {
  for (size_t begin = 0; begin < lines.size(); ++begin) {
    if (!Indented(lines[begin]) || Blank(lines[begin])) continue;
    size_t end = begin, filled = 0, pairs = 0;
    for (; end < lines.size() && (Blank(lines[end]) || Indented(lines[end])); ++end) {
      filled += Blank(lines[end]) ? 0 : 1;
      pairs += Contains(lines[end].text, " : ") ? 1 : 0;
    }
    const bool after_blank = begin == 0 || Blank(lines[begin - 1]);
    if (after_blank && filled >= kRun && pairs * 2 < filled) {
      for (size_t i = begin; i < end; ++i) {
        if (Indented(lines[i])) lines[i].text.erase(0, kMarkdown);
      }
    }
    begin = end - 1;
  }
}

}  // namespace

void StripPrefixes(std::vector<TextLine>& lines) {
  for (const Prefix prefix : kPrefixes) StripRuns(lines, prefix);
  StripIndentation(lines);
}

}  // namespace gpuwhy
