// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/gpu_row.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "reader/gpu_readings.h"
#include "reader/nvidia_smi/cells.h"

namespace gpuwhy::nvidia_smi {
namespace {

constexpr double kMebibyte = 1048576;
constexpr int kMostPStates = 15;

// "58W / 250W", "N/A / N/A", "ERR! / 250W", "3W /  N/A": both sides of the slash.
void ReadPower(GpuWriter& writer, long long index, std::string_view text, size_t line) {
  const size_t slash = text.find(" /");
  if (slash == std::string_view::npos) return;
  const std::string_view drawn = Trim(text.substr(0, slash)), limit = Trim(text.substr(slash + 2));
  writer.Reading(index, "gpu.power.watts", NumberWithUnit(drawn, "W"), drawn, line);
  const std::optional<double> most = NumberWithUnit(limit, "W");
  writer.Put(index, "gpu.power.limit.watts",
             most ? Value::Of(*most) : Value::Missing(State::kUnsupported, std::string(limit)), Source::kDevice, line);
}

std::optional<int> PState(std::string_view word) {
  if (word.size() < 2 || word[0] != 'P') return std::nullopt;
  const std::optional<long long> number = ParseInt(word.substr(1));
  return number && *number >= 0 && *number <= kMostPStates ? std::optional<int>(static_cast<int>(*number))
                                                           : std::nullopt;
}

}  // namespace

void GpuWriter::Put(long long index, const char* name, Value value, Source source, size_t line) {
  AddQuoted(sink_, name, TextGpu(index), std::move(value), source, text_.lines()[line]);
}

void GpuWriter::Reading(long long index, const char* name, std::optional<double> value, std::string_view instead,
                        size_t line) {
  if (value && !Plausible(name, *value)) {
    AddRowGap(sink_, "nvidia-smi", text_.lines()[line]);
    value.reset();
  }
  if (!value) {
    const std::optional<std::string> none = NoValue(instead);
    Put(index, name, Value::Missing(State::kUnsupported, none.value_or(std::string(instead))), Source::kDevice, line);
    if (instead == "ERR!" || Contains(instead, "lost"))
      Put(index, "gpu.error", Value::Of(std::string(instead)), Source::kDevice, line);
    return;
  }
  const bool whole = std::string_view(name) == "gpu.memory.used.bytes" || std::string_view(name) == "gpu.pstate";
  Put(index, name, whole ? Value::Of(static_cast<int64_t>(*value)) : Value::Of(*value), Source::kDevice, line);
  sink_.Add(Sample{name, TextGpu(index), static_cast<double>(std::max(0, seen_[index] - 1)), *value});
}

bool ReadSensors(GpuWriter& writer, long long index, std::string_view cell, size_t line) {
  const std::vector<std::string_view> words = Words(cell);
  size_t state = words.size();
  for (size_t i = 0; i < words.size() && i < 5 && state == words.size(); ++i) {
    if (PState(words[i])) state = i;
  }
  const bool broken = words.size() > 2 && (words[1] == "ERR!" || words[0] == "ERR!") && Contains(cell, " /");
  if (state == words.size() && !broken) return false;
  if (state < words.size()) writer.Reading(index, "gpu.pstate", *PState(words[state]), "", line);
  for (size_t i = 0; i < std::min(state + 1, words.size()); ++i) {
    if (const std::optional<double> celsius = NumberWithUnit(words[i], "C"))
      writer.Reading(index, "gpu.temperature.celsius", celsius, "", line);
    if (words[i] == "ERR!") writer.Put(index, "gpu.error", Value::Of(std::string("ERR!")), Source::kDevice, line);
  }
  const size_t from =
      state < words.size() ? static_cast<size_t>(words[state].data() - cell.data()) + words[state].size() : 0;
  ReadPower(writer, index, cell.substr(from), line);
  return true;
}

bool ReadMemory(GpuWriter& writer, long long index, std::string_view cell, size_t line) {
  const size_t slash = cell.find('/');
  if (cell == "Not Supported") {
    writer.Reading(index, "gpu.memory.used.bytes", std::nullopt, cell, line);
    writer.Put(index, "gpu.memory.total.bytes", Value::Missing(State::kUnsupported, std::string(cell)), Source::kDevice,
               line);
    return true;
  }
  if (slash == std::string_view::npos) return false;
  const std::optional<double> used = NumberWithUnit(cell.substr(0, slash), "MiB"),
                              total = NumberWithUnit(cell.substr(slash + 1), "MiB");
  if (!used && !total) return false;
  writer.Reading(index, "gpu.memory.used.bytes", used ? std::optional<double>(*used * kMebibyte) : std::nullopt,
                 Trim(cell.substr(0, slash)), line);
  if (total)
    writer.Put(index, "gpu.memory.total.bytes", Value::Of(static_cast<int64_t>(*total * kMebibyte)), Source::kDevice,
               line);
  return true;
}

std::string ComputeMode(std::string_view text) {
  text = Trim(text);
  if (text == "Default") return "default";
  if (text == "E. Process" || text == "Exclusive_Process" || text == "Exclusive Process") return "exclusive-process";
  if (text == "E. Thread" || text == "Exclusive_Thread" || text == "Exclusive Thread") return "exclusive-thread";
  return text == "Prohibited" ? "prohibited" : "";
}

bool ReadUse(GpuWriter& writer, long long index, std::string_view cell, size_t line) {
  const size_t space = std::min(cell.find(' '), cell.size());
  const std::string mode = ComputeMode(cell.substr(space));
  if (mode.empty()) return false;
  const std::string_view use = cell.substr(0, space);
  const std::optional<double> percent = NumberWithUnit(use, "%");
  writer.Reading(index, "gpu.utilization.ratio", percent ? std::optional<double>(*percent / 100) : std::nullopt, use,
                 line);
  writer.Put(index, "gpu.compute_mode", Value::Of(mode), Source::kDevice, line);
  return true;
}

bool ReadMigMode(GpuWriter& writer, long long index, std::string_view cell, size_t line) {
  if (cell != "Enabled" && cell != "Disabled" && cell != "Enabled*" && cell != "Disabled*") return false;
  writer.Put(index, "gpu.mig.mode", Value::Of(cell.substr(0, 7) == "Enabled"), Source::kDevice, line);
  return true;
}

}  // namespace gpuwhy::nvidia_smi
