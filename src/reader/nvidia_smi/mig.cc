// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/mig.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/nvidia_smi/cells.h"
#include "reader/words.h"

namespace gpuwhy::nvidia_smi {

bool MigTable::Mode(long long gpu, std::string_view cell, std::optional<bool> use_counted, size_t line) {
  const bool star = !cell.empty() && cell.back() == '*';
  if (star) cell.remove_suffix(1);
  if (NoValue(cell) && !star && use_counted) {
    readings_.Put(gpu, "gpu.mig.mode", Absent(cell), line);
    return true;
  }
  if (cell != "Enabled" && cell != "Disabled") return false;
  std::optional<bool> on = cell == "Enabled";
  if (star) on = use_counted ? std::optional<bool>(!*use_counted) : std::nullopt;
  if (on == true) enabled_[gpu] = line;
  readings_.Put(gpu, "gpu.mig.mode",
                on ? Value::Of(*on) : Value::Missing(State::kUnknown, std::string(cell) + "* waits for a reset"), line);
  return true;
}

bool MigTable::Row(std::string_view cell, std::string_view next, size_t line) {
  if (StartsWith(cell, "No MIG devices found")) {
    none_ = true;
    return true;
  }
  const size_t slash = FindSlash(cell);
  if (slash != std::string_view::npos && MemoryBytes(cell.substr(slash + 1))) {
    ++memories_;
    return true;
  }
  const std::vector<std::string_view> words = Words(cell);
  const bool numbers =
      std::all_of(words.begin(), words.end(), [](std::string_view word) { return ParseInt(word).has_value(); });
  const size_t next_slash = FindSlash(next);
  if (words.size() != 4 || !numbers || next_slash == std::string_view::npos) return false;
  if (!MemoryBytes(next.substr(next_slash + 1))) return false;  // cut off
  const long long gpu = *ParseInt(words[0]);
  instances_[gpu].push_back("GI " + std::string(words[1]) + " CI " + std::string(words[2]) + ": " + std::string(next));
  lines_[gpu] = line;
  ++rows_;
  return true;
}

void MigTable::Close(bool whole) {
  // Each instance has two memories, its own and that of BAR1: a row that was lost shows in their number.
  const bool complete = open_ && (none_ || whole) && memories_ == 2 * rows_;
  for (const auto& [gpu, list] : instances_) readings_.Put(gpu, "gpu.mig.instances", Value::Of(list), lines_[gpu]);
  // Switched on, and a table that was seen to its end does not name it.
  for (const auto& [gpu, line] : enabled_) {
    if (complete && instances_.count(gpu) == 0) readings_.Put(gpu, "gpu.mig.instances", Value::Of(StringList{}), line);
  }
  open_ = none_ = false;
  memories_ = rows_ = 0;
  enabled_.clear();
  lines_.clear();
  instances_.clear();
}

}  // namespace gpuwhy::nvidia_smi
