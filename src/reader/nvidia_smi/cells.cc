// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/cells.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace gpuwhy::nvidia_smi {
namespace {

bool OnlyRules(std::string_view text) {
  return text.size() >= 3 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c == '-' || c == '=' || c == '+'; });
}

bool Digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool Hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// "+-----+-----+" inside a longer line: where it ends.
size_t RuleEnd(std::string_view line, size_t at) {
  size_t end = at;
  while (end < line.size() && (line[end] == '-' || line[end] == '=' || line[end] == '+')) ++end;
  return end - at >= 3 ? end : at;
}

void AddLine(std::string_view line, size_t index, std::vector<Cell>& cells) {
  size_t begin = 0;
  const auto close = [&](size_t end) {
    const std::string_view cell = Trim(line.substr(begin, end - begin));
    if (OnlyRules(cell))
      cells.push_back({"", index, true});
    else if (!cell.empty())
      cells.push_back({cell, index, false});
  };
  for (size_t at = 0; at < line.size();) {
    const size_t rule = line[at] == '+' ? RuleEnd(line, at) : at;
    if (rule > at) {  // a border, also in the middle of a table on one line
      close(at);
      cells.push_back({"", index, true});
      begin = at = rule;
    } else if (line[at] == '|') {
      close(at);
      begin = ++at;
    } else {
      ++at;
    }
  }
  close(line.size());
}

}  // namespace

std::vector<Cell> FindCells(const PastedText& text) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view line = Trim(text[i]);
    const bool row = line.find('|') != std::string_view::npos;
    if (row || (!line.empty() && line.front() == '+')) AddLine(line, i, cells);
  }
  return cells;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
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
  if (text.size() <= unit.size() || text.substr(text.size() - unit.size()) != unit) return std::nullopt;
  return ParseDouble(Trim(text.substr(0, text.size() - unit.size())));
}

std::string BusIdIn(std::string_view text) {
  for (const std::string_view word : Words(text)) {
    const size_t colon = word.find(':');
    if (colon != 4 && colon != 8) continue;
    const std::string_view rest = word.substr(colon + 1);
    const bool shape = rest.size() == 7 && rest[2] == ':' && rest[5] == '.' && Hex(rest[0]) && Hex(rest[1]) &&
                       Hex(rest[3]) && Hex(rest[4]) && Digit(rest[6]);
    if (shape && std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(colon), Hex))
      return std::string(word);
  }
  return "";
}

std::optional<std::string> NoValue(std::string_view text) {
  text = Trim(text);
  for (const std::string_view word :
       {"N/A", "[N/A]", "Not Supported", "[Not Supported]", "ERR!", "[Unknown Error]", "Unknown Error", "[GPU is lost]",
        "[GPU requires reset]", "GPU is lost", "[Insufficient Permissions]", "-"}) {
    if (text == word) return std::string(word);
  }
  return std::nullopt;
}

}  // namespace gpuwhy::nvidia_smi
