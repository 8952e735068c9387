// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/processes.h"

#include <vector>

#include "base/text.h"
#include "reader/nvidia_smi/cells.h"
#include "reader/words.h"

namespace gpuwhy::nvidia_smi {
namespace {

constexpr long long kMostGpus = 1024;
constexpr std::string_view kUnknownGpu = "#?";

bool IsType(std::string_view word) {
  return word == "C" || word == "G" || word == "C+G" || word == "G+C" || word == "M+C" || word == "M";
}

// How many of the last words are the memory: "301MiB", "301 MiB", "N/A"; 0 when it is cut off.
size_t MemoryWords(const std::vector<std::string_view>& words, size_t from) {
  if (words.size() <= from) return 0;
  if (MemoryBytes(words.back()) || words.back() == "N/A") return 1;
  return words.back() == "MiB" && words.size() > from + 1 && ParseInt(words[words.size() - 2]) ? 2 : 0;
}

// A row whose name begins at word `name`; the PID is the last number before it.
std::optional<ProcessRow> Parse(std::string_view cell, const std::vector<std::string_view>& words, size_t name,
                                std::string_view type) {
  const size_t pid_at = name >= 3 ? name - 2 : 1;
  if (words.size() < name) return std::nullopt;
  const std::optional<long long> gpu = ParseInt(words[0]), pid = ParseInt(words[pid_at]);
  if (!gpu || !pid || *gpu < 0 || *gpu > kMostGpus || *pid <= 0) return std::nullopt;
  ProcessRow row{*gpu, *pid, std::string(type), "", "", ""};
  const size_t end = words.size() - MemoryWords(words, name);
  if (end < words.size()) row.memory = cell.substr(static_cast<size_t>(words[end].data() - cell.data()));
  // The memory is never empty: without it the row was cut off, and perhaps the name too.
  const size_t whole = row.memory.empty() ? name : end;
  if (words.size() == name) row.type.clear();
  for (size_t i = name; i < whole; ++i) row.name += (row.name.empty() ? "" : " ") + std::string(words[i]);
  return row;
}

bool IsWindowsPath(std::string_view name) { return name.size() > 2 && name[1] == ':' && name[2] == '\\'; }

}  // namespace

std::optional<ProcessRow> ParseProcess(std::string_view cell, bool typed) {
  const std::vector<std::string_view> words = Words(cell);
  if (!typed) return Parse(cell, words, 2, "C");
  for (const size_t at : {size_t{2}, size_t{4}}) {
    if (words.size() <= at || !IsType(words[at])) continue;
    std::optional<ProcessRow> row = Parse(cell, words, at + 1, words[at]);
    if (row && at == 4 && ParseInt(words[1])) row->instance = std::string(words[1]) + "/" + std::string(words[2]);
    if (row) return row;
  }
  return std::nullopt;
}

void WriteProcess(const ProcessRow& row, std::optional<double> bytes, size_t line, const PastedText& text,
                  EvidenceSink& sink, GpuReadings& readings) {
  const Entity entity = Entity::ProcessOnGpu(row.pid, row.gpu ? TextGpu(*row.gpu).id : std::string(kUnknownGpu));
  const auto add = [&](const char* name, const Entity& about, Value value, Source source) {
    AddQuoted(sink, name, about, std::move(value), source, text.lines()[line]);
  };
  add("process.gpu.listed", entity, Value::Of(true), Source::kDriver);
  if (!row.type.empty()) add("process.gpu.type", entity, Value::Of(row.type), Source::kDriver);
  if (NoValue(row.name))
    add("process.name", entity, Absent(row.name), Source::kDriver);
  else if (!row.name.empty())
    add("process.name", entity, Value::Of(row.name), Source::kDriver);
  if (!row.instance.empty()) add("process.gpu.instance", entity, Value::Of(row.instance), Source::kDriver);
  if (bytes)
    readings.Read(entity, "process.gpu.memory.bytes", bytes, row.memory, line, Source::kDriver);
  else if (!row.memory.empty())
    add("process.gpu.memory.bytes", entity, Absent(row.memory), Source::kDriver);
  add("driver.processes.box", Entity::Host(), Value::Of(std::string("listed")), Source::kDriver);
  if (IsWindowsPath(row.name)) add("host.os.name", Entity::Host(), Value::Of(std::string("windows")), Source::kOs);
}

void ProcessBox::Say(const char* state, size_t line) {
  AddQuoted(sink_, "driver.processes.box", Entity::Host(), Value::Of(std::string(state)), Source::kDriver,
            text_.lines()[line]);
}

void ProcessBox::Begin(size_t line, bool typed) {
  End();
  line_ = line;
  typed_ = typed;
  active_ = true;
}

void ProcessBox::Border() {
  if (closed_ || !active_) return;
  (open_ ? closed_ : open_) = true;
  text_.Claim(line_);
  if (closed_) End();
}

bool ProcessBox::Row(std::string_view cell, size_t line) {
  if (StartsWith(cell, "No running processes found") || StartsWith(cell, "No running compute processes found")) {
    Say("none", line);
    rows_ = 0;
    active_ = open_ = closed_ = false;
    return true;
  }
  if (cell.empty() || cell[0] < '0' || cell[0] > '9') return false;
  const std::optional<ProcessRow> row = ParseProcess(cell, typed_ || !active_);
  // Outside of a box a row has to be whole: other lists have numbers and letters too.
  if (row && (active_ || !row->memory.empty())) {
    WriteProcess(*row, MemoryBytes(row->memory), line, text_, sink_, readings_);
    ++rows_;
    return true;
  }
  if (!active_ || !open_) return false;
  const std::vector<std::string_view> words = Words(cell);
  if (words.empty() || !ParseInt(words[0])) return false;
  ++rows_;  // something is there: not empty, whatever it is
  // GeForce boards before driver 375: the driver does not list what runs there.
  const bool unsupported = words.size() == 3 && words[1] == "Not" && words[2] == "Supported";
  if (!unsupported) AddRowGap(sink_, "nvidia-smi", text_.lines()[line]);
  return true;
}

void ProcessBox::End() {
  if (active_ && closed_ && rows_ == 0) Say("empty", line_);
  active_ = open_ = closed_ = false;
  rows_ = 0;
}

}  // namespace gpuwhy::nvidia_smi
