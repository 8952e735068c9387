// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/gpu_readings.h"

#include <algorithm>
#include <string>

namespace gpuwhy {
namespace {

// Facts that live witnesses give as whole numbers.
bool IsWhole(std::string_view name) {
  return name == "gpu.pstate" || (name.size() > 6 && name.substr(name.size() - 6) == ".bytes");
}

bool EndsWith(std::string_view name, std::string_view end) {
  return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
}

}  // namespace

bool Plausible(std::string_view name, double value) {
  if (EndsWith(name, ".ratio")) return value >= 0 && value <= 1;
  if (EndsWith(name, ".watts")) return value >= 0 && value <= 2e4;
  if (EndsWith(name, ".celsius")) return value > -100 && value < 1000;
  if (EndsWith(name, ".bytes")) return value >= 0 && value <= 1e15;
  return !EndsWith(name, ".hertz") || (value >= 0 && value <= 1e11);
}

void GpuReadings::Put(long long index, const char* name, Value value, size_t line) {
  AddQuoted(sink_, name, TextGpu(index), std::move(value), Source::kDevice, text_.lines()[line]);
}

void GpuReadings::Read(long long index, const char* name, std::optional<double> value, std::string_view instead,
                       size_t line) {
  Push(TextGpu(index), std::max(0, seen_[index] - 1), name, value, instead, line, Source::kDevice);
}

void GpuReadings::Read(const Entity& entity, const char* name, std::optional<double> value, std::string_view instead,
                       size_t line, Source source) {
  const int time = value ? read_[{name, entity}]++ : 0;
  Push(entity, time, name, value, instead, line, source);
}

void GpuReadings::Push(const Entity& entity, double time, const char* name, std::optional<double> value,
                       std::string_view instead, size_t line, Source source) {
  if (value && !Plausible(name, *value)) {
    AddRowGap(sink_, name, text_.lines()[line]);
    value.reset();
  }
  Value read = Value::Missing(State::kUnsupported, std::string(instead));
  if (value) read = IsWhole(name) ? Value::Of(static_cast<int64_t>(*value)) : Value::Of(*value);
  AddQuoted(sink_, name, entity, std::move(read), source, text_.lines()[line]);
  if (value) sink_.Add(Sample{name, entity, time, *value});
}

}  // namespace gpuwhy
