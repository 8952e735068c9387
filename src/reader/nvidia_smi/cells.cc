// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/cells.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "reader/words.h"

namespace gpuwhy::nvidia_smi {
namespace {

bool Digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool Hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Bytes of the bar at `at`: '|' and the characters that fonts and monitors draw in its place; 0 where there is none.
size_t BarLength(std::string_view line, size_t at) {
  if (line[at] == '|') return 1;
  if (line[at] != '\xE2' && line[at] != '\xC2') return 0;
  for (const std::string_view bar : {"\xE2\x94\x82", "\xE2\x94\x83", "\xE2\x95\x91", "\xE2\x88\xA3", "\xC2\xA6"}) {
    if (StartsWith(line.substr(at), bar)) return bar.size();
  }
  return 0;
}

// Bytes of a part of a rule at `at`: '-', '=', '+', a drawn line or joint (U+2500 to U+257F), a dash.
size_t RuleLength(std::string_view line, size_t at) {
  if (line[at] == '-' || line[at] == '=' || line[at] == '+') return 1;
  const std::string_view three = line.substr(at, 3);
  if (three.size() < 3 || three[0] != '\xE2' || BarLength(line, at) > 0) return 0;
  const bool drawn = three[1] == '\x94' || three[1] == '\x95';
  return drawn || three == "\xE2\x80\x93" || three == "\xE2\x80\x94" ? 3 : 0;
}

// Where the rule that begins at `at` ends; `at` itself where fewer than three parts stand.
size_t RuleEnd(std::string_view line, size_t at) {
  size_t end = at, parts = 0;
  for (; end < line.size(); ++parts) {
    const size_t length = RuleLength(line, end);
    if (length == 0) break;
    end += length;
  }
  return parts >= 3 ? end : at;
}

void AddLine(std::string_view line, size_t index, std::vector<Cell>& cells) {
  size_t begin = 0;
  // The end of a rule that a terminal cut off is no second border.
  const bool tail = BarLength(line, 0) == 0 && line[0] != '+' && RuleEnd(line, 0) > 0;
  const auto close = [&](size_t end) {
    const std::string_view cell = Trim(line.substr(begin, end - begin));
    if (!cell.empty() && RuleEnd(cell, 0) == cell.size()) {
      if (!tail || begin > 0) cells.push_back({"", index, true});
    } else if (!cell.empty()) {
      cells.push_back({cell, index, false, end < line.size()});
    }
  };
  for (size_t at = 0; at < line.size();) {
    at = line.find_first_of("|+\xE2\xC2", at);
    if (at == std::string_view::npos) break;
    // A border starts with a joint, also in the middle of a table on one line; a minus may stand in a name.
    const bool joint = line[at] == '+' || (RuleLength(line, at) == 3 && line[at + 1] != '\x80');
    const size_t rule = joint ? RuleEnd(line, at) : at;
    const size_t bar = BarLength(line, at);
    if (rule > at) {
      close(at);
      cells.push_back({"", index, true});
      begin = at = rule;
    } else if (bar > 0) {
      close(at);
      begin = at += bar;
    } else {
      ++at;
    }
  }
  close(line.size());
}

bool HasBar(std::string_view line) {
  if (line.find('|') != std::string_view::npos) return true;
  for (size_t at = line.find_first_of("\xE2\xC2"); at < line.size(); at = line.find_first_of("\xE2\xC2", at + 1)) {
    if (BarLength(line, at) > 0) return true;
  }
  return false;
}

}  // namespace

std::vector<Cell> FindCells(const PastedText& text) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view line = Trim(text[i]);
    if (line.empty()) continue;
    if (line[0] == '+' || (line[0] == '\xE2' && RuleEnd(line, 0) > 0) || HasBar(line)) AddLine(line, i, cells);
  }
  return cells;
}

std::optional<std::string> VersionAfter(std::string_view text, std::string_view label) {
  const size_t place = text.find(label);
  if (place == std::string_view::npos) return std::nullopt;
  std::string_view rest = Trim(text.substr(place + label.size()));
  if (!rest.empty() && rest.front() == ':') rest = Trim(rest.substr(1));
  size_t end = 0;
  while (end < rest.size() && (Digit(rest[end]) || rest[end] == '.')) ++end;
  while (end > 0 && rest[end - 1] == '.') --end;
  if (end == 0 || rest.substr(0, end).find('.') == std::string_view::npos) return std::nullopt;
  return std::string(rest.substr(0, end));
}

std::optional<double> NumberWithUnit(std::string_view text, std::string_view unit) {
  text = Trim(text);
  if (text.size() <= unit.size() || !EndsWith(text, unit)) return std::nullopt;
  return ParseDouble(Trim(text.substr(0, text.size() - unit.size())));
}

std::optional<double> MemoryBytes(std::string_view text) {
  constexpr double kMebibyte = 1048576, kGibibyte = 1073741824;
  if (const std::optional<double> mebibytes = NumberWithUnit(text, "MiB")) return *mebibytes * kMebibyte;
  if (const std::optional<double> gibibytes = NumberWithUnit(text, "GiB")) return *gibibytes * kGibibyte;
  return std::nullopt;
}

size_t FindSlash(std::string_view text) {
  for (size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1)) {
    const bool inside = at > 0 && at + 1 < text.size() && text[at - 1] == 'N' && text[at + 1] == 'A';
    if (!inside) return at;
  }
  return std::string_view::npos;
}

std::string BusIdOf(std::string_view cell) {
  if (cell.size() < 12 || (cell[4] != ':' && cell[8] != ':')) return "";
  const std::vector<std::string_view> words = Words(cell);
  if (words.empty() || words.size() > 2) return "";
  const std::string_view word = words[0];
  const size_t colon = word.find(':');
  if (colon != 4 && colon != 8) return "";
  const std::string_view rest = word.substr(colon + 1);
  const bool shape = rest.size() == 7 && rest[2] == ':' && rest[5] == '.' && Hex(rest[0]) && Hex(rest[1]) &&
                     Hex(rest[3]) && Hex(rest[4]) && Digit(rest[6]);
  if (!shape || !std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(colon), Hex)) return "";
  return std::string(word);
}

bool IsNoBus(std::string_view cell) {
  const std::vector<std::string_view> words = Words(cell);
  return words.size() == 2 && words[0] == "N/A" && words[1] == "N/A";
}

bool NoValue(std::string_view text) {
  text = Trim(text);
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  for (const std::string_view word : {"N/A", "Not Supported", "Unknown Error", "Insufficient Permissions", "Not Found",
                                      "Requested functionality has been deprecated", "-"}) {
    if (text == word) return true;
  }
  return Broken(text);
}

bool Broken(std::string_view text) {
  return text == "ERR!" || Contains(text, "Unknown Error") || Contains(text, "GPU is lost") ||
         Contains(text, "equires reset");
}

Value Absent(std::string_view text) {
  text = Trim(text);
  const State state = Contains(text, "Permission")  ? State::kNoPermission
                      : Contains(text, "Not Found") ? State::kNotFound
                                                    : State::kUnsupported;
  return Value::Missing(state, std::string(text));
}

}  // namespace gpuwhy::nvidia_smi
