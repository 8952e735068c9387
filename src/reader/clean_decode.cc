// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/clean_decode.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.h"
#include "reader/clean_gbk.h"

namespace gpuwhy {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void Append(std::string& out, uint32_t code) {
  const auto byte = [&](uint32_t value) { out += static_cast<char>(static_cast<unsigned char>(value)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

enum class Wide { kNo, kLittle, kBig };

// Does every unit of UTF-16 in this order stand for ASCII, CJK punctuation, an ideograph or a full-width form? `first`
// is the place of the high byte in a unit.
bool WideChinese(std::string_view sample, size_t first) {
  size_t ascii = 0, chinese = 0;
  for (size_t i = 0; i + 1 < sample.size(); i += 2) {
    const auto high = static_cast<unsigned char>(sample[i + first]);
    const auto low = static_cast<unsigned char>(sample[i + 1 - first]);
    if (high == 0 && low != 0 && low < 0x80) {
      ++ascii;
    } else if (high == 0x30 || high == 0xFF || high == 0x20 || (high >= 0x4E && high <= 0x9F)) {
      ++chinese;
    } else {
      return false;
    }
  }
  return ascii >= 8 && ascii * 10 > ascii + chinese && chinese > 0;
}

// Without a mark: text that is mostly ASCII has a zero in every second byte.
Wide WideOrder(std::string_view bytes) {
  if (bytes.size() < 2) return Wide::kNo;
  if (bytes.substr(0, 2) == "\xFF\xFE") return Wide::kLittle;
  if (bytes.substr(0, 2) == "\xFE\xFF") return Wide::kBig;
  size_t even = 0, odd = 0;
  const size_t seen = std::min<size_t>(bytes.size(), 512);
  for (size_t i = 0; i < seen; ++i) {
    if (bytes[i] == '\0') ++(i % 2 == 0 ? even : odd);
  }
  if (odd > seen * 2 / 5 && even == 0) return Wide::kLittle;
  if (even > seen * 2 / 5 && odd == 0) return Wide::kBig;
  if (even + odd == 0 || bytes.size() % 2 != 0) return Wide::kNo;
  const std::string_view sample = bytes.substr(0, seen - seen % 2);
  if (WideChinese(sample, 1)) return Wide::kLittle;
  return WideChinese(sample, 0) ? Wide::kBig : Wide::kNo;
}

std::string FromWide(std::string_view bytes, Wide order) {
  std::string out;
  out.reserve(bytes.size());
  const auto unit = [&](size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<uint32_t>(order == Wide::kLittle ? second << 8 | first : first << 8 | second);
  };
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    uint32_t code = unit(i);
    const bool high = code >= 0xD800 && code < 0xDC00;
    if (high && i + 3 < bytes.size() && unit(i + 2) >= 0xDC00 && unit(i + 2) < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(i + 2) - 0xDC00);
      i += 2;
    } else if (code >= 0xD800 && code < 0xE000) {
      code = 0xFFFD;
    }
    Append(out, code);
  }
  return out;
}

// What terminals and editors put in place of plain characters: {found, meant}; an empty meaning drops it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kPlain = {{
    {"\xEF\xBB\xBF", ""},
    {"\xE2\x80\x8B", ""},  // byte order mark, zero-width space
    {"\xE2\x80\x8C", ""},
    {"\xE2\x80\x8D", ""},  // zero-width (non-)joiner
    {"\xC2\xA0", " "},
    {"\xE3\x80\x80", " "},  // no-break and ideographic space
    {"\xE2\x80\xAF", " "},
    {"\xE2\x94\x82", "|"},  // narrow no-break space, drawn lines
    {"\xE2\x94\x83", "|"},
    {"\xEF\xBD\x9C", "|"},
    {"\xE2\x94\x80", "-"},
    {"\xE2\x94\x81", "-"},
    {"\xE2\x80\x98", "'"},
    {"\xE2\x80\x99", "'"},  // typographic quotes
    {"\xE2\x80\x9C", "\""},
    {"\xE2\x80\x9D", "\""},
    {"\xE2\x80\xA6", "..."},
}};

// Length of the escape sequence at `at` (ECMA-48: CSI, OSC, two-character escapes); 0 where there is none.
size_t EscapeLength(std::string_view text, size_t at) {
  if (text[at] != '\x1B' || at + 1 >= text.size()) return 0;
  const char kind = text[at + 1];
  size_t end = at + 2;
  if (kind == '[') {
    while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
    return std::min(end + 1, text.size()) - at;
  }
  if (kind != ']') return 2;
  while (end < text.size() && text[end] != '\x07' && text[end] != '\x1B' && text[end] != '\n') ++end;
  return end - at + (end < text.size() && text[end] == '\x07' ? 1 : 0);
}

constexpr std::array<std::pair<std::string_view, char>, 7> kEntities = {{{"&lt;", '<'},
                                                                         {"&gt;", '>'},
                                                                         {"&amp;", '&'},
                                                                         {"&quot;", '"'},
                                                                         {"&#39;", '\''},
                                                                         {"&nbsp;", ' '},
                                                                         {"&apos;", '\''}}};
constexpr std::array<std::string_view, 8> kLayoutTags = {"pre",  "code", "p",      "div",
                                                         "span", "b",    "strong", "blockquote"};

// Length of a tag that only lays out; `is_break` for <br>.
size_t TagLength(std::string_view text, bool& is_break) {
  const size_t end = text.substr(0, 200).find('>');
  if (end == std::string_view::npos) return 0;
  std::string_view name = text.substr(1, end - 1);
  if (!name.empty() && name.front() == '/') name.remove_prefix(1);
  name = name.substr(0, name.find_first_of(" /\t"));
  const std::string lower = Lower(name);
  is_break = lower == "br";
  return is_break || std::find(kLayoutTags.begin(), kLayoutTags.end(), lower) != kLayoutTags.end() ? end + 1 : 0;
}

}  // namespace

size_t Utf8Length(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool LooksWide(std::string_view bytes) { return WideOrder(bytes) != Wide::kNo; }

std::string DecodeText(std::string_view bytes) {
  const Wide order = WideOrder(bytes);
  std::string narrow;
  std::string_view text = bytes;
  if (order != Wide::kNo) {
    text = narrow = FromWide(bytes, order);
  } else if (std::optional<GbkText> gbk = LooksLikeGbk(bytes) ? DecodeGbk(bytes) : std::nullopt) {
    text = narrow = std::move(gbk->text);
  }
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0x1B) {
      i += std::max<size_t>(1, EscapeLength(text, i));
    } else if (byte < 0x80) {
      if (byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t') out += text[i];
      ++i;
    } else if (const size_t length = Utf8Length(text, i); length == 0) {
      out += kReplacement;
      ++i;
    } else {
      const std::string_view character = text.substr(i, length);
      const auto* plain =
          std::find_if(kPlain.begin(), kPlain.end(), [&](const auto& row) { return row.first == character; });
      out += plain == kPlain.end() ? character : plain->second;
      i += length;
    }
  }
  return out;
}

std::string StripHtml(const std::string& text) {
  const std::string sample = Lower(std::string_view(text).substr(0, 1 << 16));
  const bool markup = Contains(sample, "<br") || Contains(sample, "&gt;") || Contains(sample, "&lt;") ||
                      Contains(sample, "<pre") || Contains(sample, "&quot;") || Contains(sample, "&#39;");
  if (!markup) return text;
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    bool is_break = false;
    if (const size_t tag = rest[0] == '<' ? TagLength(rest, is_break) : 0; tag > 0) {
      i += tag;
      if (is_break) out += '\v';
      continue;
    }
    const auto* entity = std::find_if(kEntities.begin(), kEntities.end(), [&](const auto& row) {
      return rest[0] == '&' && rest.substr(0, row.first.size()) == row.first;
    });
    out += entity == kEntities.end() ? text[i] : entity->second;
    i += entity == kEntities.end() ? 1 : entity->first.size();
  }
  return out;
}

}  // namespace gpuwhy
