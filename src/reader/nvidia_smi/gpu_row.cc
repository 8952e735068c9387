// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/gpu_row.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "reader/nvidia_smi/cells.h"
#include "reader/words.h"

namespace gpuwhy::nvidia_smi {
namespace {

constexpr int kMostPStates = 15;
constexpr long long kMostGpus = 1024;

std::optional<int> PState(std::string_view word) {
  if (word.size() < 2 || word[0] != 'P') return std::nullopt;
  const std::optional<long long> number = ParseInt(word.substr(1));
  return number && *number >= 0 && *number <= kMostPStates ? std::optional<int>(static_cast<int>(*number))
                                                           : std::nullopt;
}

// Position of the performance state among fan, temperature, state and power; the size when the cell is of another kind.
size_t StateAt(const std::vector<std::string_view>& words) {
  const size_t most = std::min<size_t>(words.size(), 4);
  for (size_t i = 0; i < most; ++i) {
    if (PState(words[i])) return i;
  }
  if (words.size() < 3 || !NoValue(words[2])) return words.size();
  const bool fan = NumberWithUnit(words[0], "%") || NoValue(words[0]);
  const bool celsius = NumberWithUnit(words[1], "C") || NoValue(words[1]);
  return fan && celsius ? 2 : words.size();
}

// "58W / 250W", "N/A / N/A", "ERR! / 250W", "3W /  N/A": both sides of the slash.
void ReadPower(GpuReadings& readings, long long index, std::string_view text, size_t line) {
  const size_t slash = FindSlash(text);
  if (slash == std::string_view::npos) return;
  const std::string_view drawn = Trim(text.substr(0, slash)), limit = Trim(text.substr(slash + 1));
  const std::optional<double> watts = NumberWithUnit(drawn, "W"), most = NumberWithUnit(limit, "W");
  if (watts || NoValue(drawn)) WriteReading(readings, index, "gpu.power.watts", watts, drawn, line);
  if (NoValue(limit) || (most && Plausible("gpu.power.limit.watts", *most)))
    readings.Put(index, "gpu.power.limit.watts", most ? Value::Of(*most) : Absent(limit), line);
}

}  // namespace

std::optional<GpuHead> ParseHead(std::string_view cell) {
  const std::vector<std::string_view> words = Words(cell);
  if (words.size() < 2) return std::nullopt;
  const std::optional<long long> index = ParseInt(words[0]);
  if (!index || *index < 0 || *index > kMostGpus) return std::nullopt;
  GpuHead head{*index, "", ""};
  for (const std::string_view mode : {"On", "Off", "WDDM", "TCC", "MCDM", "N/A"}) {
    if (words.back() == mode) head.mode = std::string(mode);
  }
  const size_t end = head.mode.empty() ? words.size() : words.size() - 1;
  for (size_t i = 1; i < end; ++i) head.name += (i == 1 ? "" : " ") + std::string(words[i]);
  return head.name.empty() ? std::nullopt : std::optional<GpuHead>(std::move(head));
}

void WriteHead(GpuReadings& readings, const GpuHead& head, size_t line) {
  if (NoValue(head.name)) {
    readings.Put(head.index, "gpu.name", Absent(head.name), line);
    if (Broken(head.name)) readings.Put(head.index, "gpu.error", Value::Of(head.name), line);
  } else {
    readings.Put(head.index, "gpu.name", Value::Of(head.name), line);
  }
  if (head.mode == "On" || head.mode == "Off")
    readings.Put(head.index, "gpu.persistence_mode", Value::Of(head.mode == "On"), line);
  else if (!head.mode.empty() && head.mode != "N/A")
    readings.Put(head.index, "gpu.driver_model", Value::Of(head.mode), line);
}

void WriteReading(GpuReadings& readings, long long index, const char* name, std::optional<double> value,
                  std::string_view instead, size_t line) {
  if (value) return readings.Read(index, name, value, instead, line);
  readings.Put(index, name, Absent(instead), line);
  if (Broken(instead)) readings.Put(index, "gpu.error", Value::Of(std::string(instead)), line);
}

bool IsSensors(std::string_view cell) {
  const std::vector<std::string_view> words = Words(cell);
  return StateAt(words) < words.size();
}

bool ReadSensors(GpuReadings& readings, long long index, std::string_view cell, size_t line) {
  const std::vector<std::string_view> words = Words(cell);
  const size_t state = StateAt(words);
  if (state == words.size()) return false;
  for (size_t i = 0; i < state; ++i) {
    if (const std::optional<double> celsius = NumberWithUnit(words[i], "C"))
      WriteReading(readings, index, "gpu.temperature.celsius", celsius, words[i], line);
    else if (Broken(words[i]))
      readings.Put(index, "gpu.error", Value::Of(std::string(words[i])), line);
  }
  if (state == 2 && NoValue(words[1])) readings.Put(index, "gpu.temperature.celsius", Absent(words[1]), line);
  if (state + 1 == words.size()) return true;  // cut off, and perhaps in the state
  const std::optional<int> number = PState(words[state]);
  WriteReading(readings, index, "gpu.pstate", number ? std::optional<double>(*number) : std::nullopt, words[state],
               line);
  ReadPower(readings, index, cell.substr(static_cast<size_t>(words[state].data() - cell.data()) + words[state].size()),
            line);
  return true;
}

bool ReadMemory(GpuReadings& readings, long long index, std::string_view cell, size_t line) {
  const size_t slash = FindSlash(cell);
  const std::string_view used = Trim(cell.substr(0, slash));
  const std::string_view total = slash == std::string_view::npos ? used : Trim(cell.substr(slash + 1));
  // Boards whose memory is the host's have no count: one word stands for both.
  if (slash == std::string_view::npos && used != "Not Supported" && used != "Unknown Error") return false;
  const std::optional<double> used_bytes = MemoryBytes(used), total_bytes = MemoryBytes(total);
  if (total_bytes && !Plausible("gpu.memory.total.bytes", *total_bytes)) return false;
  if ((!used_bytes && !NoValue(used)) || (!total_bytes && !NoValue(total))) return false;
  WriteReading(readings, index, "gpu.memory.used.bytes", used_bytes, used, line);
  readings.Put(index, "gpu.memory.total.bytes",
               total_bytes ? Value::Of(static_cast<int64_t>(*total_bytes)) : Absent(total), line);
  return true;
}

std::string ComputeMode(std::string_view text) {
  text = Trim(text);
  if (text == "Default") return "default";
  if (text == "E. Process" || text == "Exclusive_Process" || text == "Exclusive Process") return "exclusive-process";
  if (text == "E. Thread" || text == "Exclusive_Thread" || text == "Exclusive Thread") return "exclusive-thread";
  return text == "Prohibited" ? "prohibited" : "";
}

bool ReadUse(GpuReadings& readings, long long index, std::string_view cell, size_t line) {
  const size_t space = std::min(cell.find_first_of(" \t"), cell.size());
  const std::string_view use = cell.substr(0, space), mode = Trim(cell.substr(space));
  const std::optional<double> percent = NumberWithUnit(use, "%");
  const std::string known = ComputeMode(mode);
  // "N/A" alone is a cell of another row; a percentage alone lost its mode at the end of a cut line.
  if ((!percent && !NoValue(use)) || (known.empty() && !NoValue(mode) && !(percent && mode.empty()))) return false;
  WriteReading(readings, index, "gpu.utilization.ratio", percent ? std::optional<double>(*percent / 100) : std::nullopt,
               use, line);
  if (!mode.empty()) readings.Put(index, "gpu.compute_mode", known.empty() ? Absent(mode) : Value::Of(known), line);
  return true;
}

bool ReadEcc(GpuReadings& readings, long long index, std::string_view cell, size_t line) {
  const std::optional<long long> errors = ParseInt(cell);
  if (!errors && !NoValue(cell) && cell != "Off" && cell != "On") return false;
  readings.Put(index, "gpu.ecc.uncorrected", errors ? Value::Of(static_cast<int64_t>(*errors)) : Absent(cell), line);
  if (Broken(cell)) readings.Put(index, "gpu.error", Value::Of(std::string(cell)), line);
  return true;
}

}  // namespace gpuwhy::nvidia_smi
