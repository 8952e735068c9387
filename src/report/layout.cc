// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace gpuwhy::report {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Character {
  char32_t code = 0;
  std::string_view bytes;
};

// First character of a non-empty text; a byte that begins no valid sequence is one character U+FFFD.
Character First(std::string_view text) {
  const auto byte = [&text](size_t at) { return static_cast<uint8_t>(text[at]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, text.substr(0, 1)};
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};  // shorter forms exist below: overlong
  char32_t code = lead & (0x7FU >> size);
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {kReplacement, text.substr(0, 1)};
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {kReplacement, text.substr(0, 1)};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  if (code < kLeast[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
    return {kReplacement, text.substr(0, 1)};
  return {code, text.substr(0, size)};
}

struct Range {
  char32_t first, last;
};

// Blocks whose characters are Wide or Fullwidth in Unicode's EastAsianWidth.txt (UAX #11), and the emoji planes.
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},  {0x3400, 0x4DBF},
                           {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},  {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6},
                           {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kNoWidth[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x202A, 0x202E},
                              {0x2060, 0x2069}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}};
// Marks of direction can reorder what a reader sees; nothing of ours uses them.
constexpr Range kDirection[] = {{0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069}};

template <size_t kCount>
bool In(char32_t code, const Range (&ranges)[kCount]) {
  const auto holds = [code](const Range& range) { return code >= range.first && code <= range.last; };
  return std::any_of(std::begin(ranges), std::end(ranges), holds);
}

bool IsWide(char32_t code) { return In(code, kWide); }

// No line begins with one of these, and none ends with one of those (rules for Chinese line breaking).
bool ClosesText(char32_t code) {
  constexpr std::u32string_view kClosing = U"。，、；：？！）》】」』”’%…";
  return kClosing.find(code) != std::u32string_view::npos;
}
bool OpensText(char32_t code) {
  constexpr std::u32string_view kOpening = U"（《【「『“‘";
  return kOpening.find(code) != std::u32string_view::npos;
}

// A piece that is never broken.
struct Unit {
  std::string text;
  bool blank_before = false;
  char32_t last = 0;
};

std::vector<Unit> Units(std::string_view text) {
  std::vector<Unit> units;
  bool blank = true;
  while (!text.empty()) {
    const Character character = First(text);
    text.remove_prefix(character.bytes.size());
    if (character.code == ' ' || character.code == '\n' || character.code == '\t') {
      blank = true;
      continue;
    }
    bool starts = units.empty() || blank;
    if (!starts) {
      const char32_t last = units.back().last;
      starts = (IsWide(character.code) || IsWide(last)) && !ClosesText(character.code) && !OpensText(last);
    }
    if (starts) units.push_back({"", blank && !units.empty(), 0});
    units.back().text += character.bytes;
    units.back().last = character.code;
    blank = false;
  }
  return units;
}

}  // namespace

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character character = First(text);
    text.remove_prefix(character.bytes.size());
    width += IsWide(character.code) ? 2 : In(character.code, kNoWidth) ? 0 : 1;
  }
  return width;
}

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character character = First(text);
    text.remove_prefix(character.bytes.size());
    const char32_t code = character.code;
    if (code == '\n' || code == '\t' || code == '\r') {
      out += ' ';
    } else if (code < 0x20 || (code >= 0x7F && code < 0xA0) || In(code, kDirection)) {
      out += '?';
    } else if (code == kReplacement) {
      out += "\xEF\xBF\xBD";
    } else {
      out += character.bytes;
    }
  }
  return out;
}

std::vector<std::string> Wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  int used = 0;
  for (const Unit& unit : Units(text)) {
    const int size = DisplayWidth(unit.text);
    const int glue = unit.blank_before ? 1 : 0;
    if (lines.empty() || used + glue + size > width) {
      lines.push_back(unit.text);
      used = size;
      continue;
    }
    if (unit.blank_before) lines.back() += ' ';
    lines.back() += unit.text;
    used += glue + size;
  }
  return lines;
}

std::string Pad(std::string_view text, int width) {
  return std::string(text) + std::string(static_cast<size_t>(std::max(0, width - DisplayWidth(text))), ' ');
}

std::string Bar(double ratio, int cells) {
  constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::lround(std::clamp(ratio, 0.0, 1.0) * cells * 8));
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[static_cast<size_t>(eighths % 8)];
  return Pad(bar, cells);
}

}  // namespace gpuwhy::report
