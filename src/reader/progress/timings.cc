// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/progress/timings.h"

#include <array>
#include <string>
#include <vector>

#include "base/text.h"

namespace gpuwhy::progress {
namespace {

using namespace std::string_view_literals;

// The longer names first: "data time" is no "data".
constexpr std::array kDataNames = {"data_loading_time"sv, "data_load_time"sv, "dataloader_time"sv,
                                   "data_time"sv,         "datatime"sv,       "data time"sv,
                                   "data load"sv,         "load_time"sv,      "data"sv};
constexpr std::array kBatchNames = {"batch_time"sv, "batchtime"sv, "batch time"sv, "step_time"sv, "step time"sv,
                                    "iter_time"sv,  "iter time"sv, "time"sv,       "batch"sv};
// Names of the row that a profiler gives to loading.
constexpr std::array kLoaderRows = {"dataloader"sv,      "data loader"sv, "dataloading"sv, "data loading"sv,
                                    "data_loading"sv,    "input"sv,       "input time"sv,  "input pipeline"sv,
                                    "get_train_batch"sv, "loader"sv,      "data"sv};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) { return IsDigit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

void SkipBlanks(std::string_view& text) {
  const size_t begin = text.find_first_not_of(" \t");
  text.remove_prefix(begin == std::string_view::npos ? text.size() : begin);
}

// Takes a number, with commas between thousands, off the front.
std::optional<double> TakeNumber(std::string_view& text) {
  size_t size = 0;
  std::string digits;
  while (size < text.size() && (IsDigit(text[size]) || text[size] == '.' ||
                                (text[size] == ',' && size + 3 < text.size() && IsDigit(text[size + 1]) &&
                                 IsDigit(text[size + 2]) && IsDigit(text[size + 3])))) {
    if (text[size] != ',') digits += text[size];
    ++size;
  }
  const auto number = digits.empty() || !IsDigit(digits[0]) ? std::nullopt : ParseDouble(digits);
  if (number) text.remove_prefix(size);
  return number;
}

// A number with "s", "sec" or "ms" behind it, in seconds. A clock time (12:30) or a fraction (3/10) is none.
std::optional<double> TakeSeconds(std::string_view& text) {
  SkipBlanks(text);
  std::string_view rest = text;
  auto number = TakeNumber(rest);
  if (!number || (!rest.empty() && (rest[0] == ':' || rest[0] == '/' || rest[0] == '%' || rest[0] == '-')))
    return std::nullopt;
  std::string_view unit = rest;
  SkipBlanks(unit);
  size_t size = 0;
  while (size < unit.size() && IsWord(unit[size])) ++size;
  const std::string_view name = unit.substr(0, size);
  if (name == "ms") number = *number / 1000;
  if (name == "ms" || name == "s" || name == "sec" || name == "secs" || name == "seconds") rest = unit.substr(size);
  text = rest;
  return number;
}

// "(5.893)", perhaps behind a rate: ", 741.63/s (0.512s, 500.12/s)".
std::optional<double> TakeMean(std::string_view text) {
  SkipBlanks(text);
  if (!text.empty() && text[0] == ',') {
    const size_t open = text.find('(');
    const size_t rate = text.find("/s");
    if (open == std::string_view::npos || rate == std::string_view::npos || rate > open || open > 24)
      return std::nullopt;
    text.remove_prefix(open);
  }
  if (text.empty() || text[0] != '(') return std::nullopt;
  text.remove_prefix(1);
  if (text.find(')') == std::string_view::npos) return std::nullopt;  // cut off, perhaps inside the number
  return TakeSeconds(text);
}

// The figure behind one of the names, which must be a word of its own.
template <size_t n>
std::optional<Timing> Find(std::string_view line, std::string_view lower,
                           const std::array<std::string_view, n>& names) {
  for (const std::string_view name : names) {
    for (size_t at = lower.find(name); at != std::string_view::npos; at = lower.find(name, at + 1)) {
      const size_t end = at + name.size();
      if ((at > 0 && IsWord(line[at - 1])) || (end < line.size() && IsWord(line[end]))) continue;
      std::string_view rest = line.substr(end);
      SkipBlanks(rest);
      if (!rest.empty() && (rest[0] == ':' || rest[0] == '=')) rest.remove_prefix(1);
      const auto value = TakeSeconds(rest);
      if (value) return Timing{*value, TakeMean(rest)};
    }
  }
  return std::nullopt;
}

// Cells of a row of a table: between bars, or between runs of two blanks or a tab.
std::vector<std::string_view> Cells(std::string_view line) {
  std::vector<std::string_view> cells;
  if (Contains(line, "|")) {
    for (const std::string_view cell : Split(line, '|')) {
      if (!Trim(cell).empty()) cells.push_back(Trim(cell));
    }
    return cells;
  }
  // The name is what stands in front of the first number; the figures are words.
  line = Trim(line);
  size_t begin = 0;
  while (begin < line.size() && !(IsDigit(line[begin]) && begin > 0 && !IsWord(line[begin - 1]))) ++begin;
  if (begin == line.size()) return {line};
  cells.push_back(Trim(line.substr(0, begin)));
  for (const std::string_view word : Split(line.substr(begin), ' ')) {
    if (!Trim(word).empty()) cells.push_back(Trim(word));
  }
  return cells;
}

bool IsLoaderRow(std::string_view cell) {
  std::string lower = Lower(cell);
  while (!lower.empty() && (lower.back() == ':' || lower.back() == '(' || lower.back() == ' ')) lower.pop_back();
  for (const std::string_view name : kLoaderRows) {
    if (lower == name) return true;
  }
  // Lightning's profiler: "[_TrainingEpochLoop].train_dataloader_next"; torch.profiler: "enumerate(DataLoader)#...".
  return Contains(lower, "train_dataloader_next") || lower.substr(0, 22) == "enumerate(dataloader)#";
}

std::optional<double> AsPercent(std::string_view cell) {
  while (!cell.empty() && (cell.front() == '(' || cell.back() == ')')) {
    if (cell.front() == '(') cell.remove_prefix(1);
    if (!cell.empty() && cell.back() == ')') cell.remove_suffix(1);
  }
  if (!cell.empty() && cell.back() == '%') cell = Trim(cell.substr(0, cell.size() - 1));
  const auto number = ParseDouble(cell);
  return number && *number >= 0 && *number <= 100 ? number : std::nullopt;
}

// torch.profiler: Name, Self CPU %, Self CPU, CPU total %, ...: the second share is the one with children.
std::optional<double> SecondPercent(const std::vector<std::string_view>& cells) {
  int seen = 0;
  for (const std::string_view cell : cells) {
    if (cell.back() == '%' && ++seen == 2) return AsPercent(cell);
  }
  return std::nullopt;
}

}  // namespace

std::optional<StepTimings> ReadTimings(std::string_view line) {
  if (line.size() > 1000) return std::nullopt;
  const std::string lower = Lower(line);
  if (!Contains(lower, "data") && !Contains(lower, "load_time")) return std::nullopt;
  const auto data = Find(line, lower, kDataNames);
  const auto batch = data ? Find(line, lower, kBatchNames) : std::nullopt;
  if (!data || !batch || batch->value <= 0) return std::nullopt;
  return StepTimings{*batch, *data};
}

std::optional<double> ReadInputShare(std::string_view line) {
  if (line.size() > 400) return std::nullopt;
  // TensorFlow's profiler: "Your program is HIGHLY input-bound because 85.3% of the total step time sampled ..."
  const size_t bound = line.find("input-bound because ");
  if (bound != std::string_view::npos) {
    std::string_view rest = line.substr(bound + 20);
    const auto percent = TakeNumber(rest);
    const bool good = percent && *percent <= 100 && !rest.empty() && rest[0] == '%';
    return good ? std::optional(*percent / 100) : std::nullopt;
  }
  const std::vector<std::string_view> cells = Cells(line);
  if (cells.size() < 2 || !IsLoaderRow(cells[0])) return std::nullopt;
  if (Contains(cells[0], "#")) {
    const auto percent = SecondPercent(cells);
    return percent ? std::optional(*percent / 100) : std::nullopt;
  }
  // Without its sign a figure is a share only as the last column behind an amount of time, in a row of a clear name.
  std::string_view last = cells.back();
  const bool sign = Contains(last, "%");
  if (last == "%" || last == "%)") last = cells[cells.size() - 2];
  if (!sign && (cells.size() < 3 || last.back() == ')' || !Contains(Lower(cells[0]), "dataload"))) return std::nullopt;
  for (size_t i = 1; i + 1 < cells.size(); ++i) {
    if (cells[i].find_first_not_of("0123456789.,()%smunec-+e/") != std::string_view::npos) return std::nullopt;
  }
  const auto percent = AsPercent(last);
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

std::optional<double> ReadStepSeconds(std::string_view line) {
  struct Unit {
    std::string_view name;
    double factor;  // seconds a unit; 0: the figure is a rate
  };
  static constexpr Unit kUnits[] = {{"s/it", 1}, {"it/s", 0}, {"ms/step", 1e-3}, {"us/step", 1e-6}, {"s/step", 1}};
  for (const Unit& unit : kUnits) {
    const size_t at = line.rfind(unit.name);
    if (at == std::string_view::npos) continue;
    size_t begin = at;
    while (begin > 0 && (IsDigit(line[begin - 1]) || line[begin - 1] == '.')) --begin;
    const auto number = ParseDouble(line.substr(begin, at - begin));
    if (!number || *number <= 0) continue;
    return unit.factor > 0 ? *number * unit.factor : 1 / *number;
  }
  return std::nullopt;
}

bool ShowsSteps(std::string_view line) {
  if (line.size() > 2000) return false;
  if (Contains(line, "it/s") || Contains(line, "s/it") || Contains(line, "s/step")) return Contains(line, "/");
  const size_t bar = line.find(" [");
  const bool keras = bar != std::string_view::npos && bar > 0 && IsDigit(line[bar - 1]) && bar + 2 < line.size() &&
                     (line[bar + 2] == '=' || line[bar + 2] == '.' || line[bar + 2] == '>') && Contains(line, "/");
  if (keras) return true;
  if (!Contains(line, "oss")) return false;
  const std::string lower = Lower(Trim(line).substr(0, 300));
  const std::string_view text = lower;
  for (const std::string_view begin :
       {"epoch"sv, "step"sv, "iter"sv, "train: "sv, "[epoch"sv, "batch"sv, "{'loss'"sv}) {
    if (text.substr(0, begin.size()) != begin) continue;
    return Contains(text, "loss") && text.find_first_of("0123456789") != std::string_view::npos;
  }
  return false;
}

std::optional<double> ReadGpuMemoryColumn(std::string_view line) {
  line = Trim(line);
  if (line.empty() || !IsDigit(line[0])) return std::nullopt;
  const size_t slash = line.substr(0, 7).find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(slash + 1);
  if (!ParseInt(line.substr(0, slash)) || !TakeNumber(rest) || rest.empty() || (rest[0] != ' ' && rest[0] != '\t')) {
    return std::nullopt;
  }
  SkipBlanks(rest);
  const auto memory = TakeNumber(rest);
  const bool column = memory && rest.size() > 1 && rest[0] == 'G' && (rest[1] == ' ' || rest[1] == '\t');
  return column ? memory : std::nullopt;
}

}  // namespace gpuwhy::progress
