// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_GPU_READINGS_H_
#define GPUWHY_READER_GPU_READINGS_H_

#include <map>
#include <optional>
#include <string_view>

#include "reader/reader.h"

namespace gpuwhy {

constexpr double kBytesPerMebibyte = 1048576;

// What no GPU can read: a damaged or made-up figure. Bounds are generous (20 kW, 1 PB, 100 GHz).
bool Plausible(std::string_view name, double value);

// Pushes what a text says of its GPUs. What changes with time becomes a fact, of which the newest stays, and a sample
// whose time counts the readings of that GPU: texts rarely say how far apart they are.
class GpuReadings {
 public:
  GpuReadings(const PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  // The readings that follow belong together.
  void Next(long long index) { ++seen_[index]; }
  // The GPU of the text, if it shows a single one; one with another index than 0 was picked out of several.
  std::optional<long long> Only() const {
    return seen_.size() == 1 && seen_.begin()->first == 0 ? std::optional<long long>(0) : std::nullopt;
  }
  void Put(long long index, const char* name, Value value, size_t line);
  // In base units; nothing: `instead` is the word that stands in its place, such as "N/A".
  void Read(long long index, const char* name, std::optional<double> value, std::string_view instead, size_t line);
  // The same for a process on a GPU, whose entity has its own count.
  void Read(const Entity& entity, const char* name, std::optional<double> value, std::string_view instead, size_t line,
            Source source);

 private:
  void Push(const Entity& entity, double time, const char* name, std::optional<double> value, std::string_view instead,
            size_t line, Source source);

  const PastedText& text_;
  EvidenceSink& sink_;
  std::map<long long, int> seen_;
  std::map<std::pair<std::string, Entity>, int> read_;
};

}  // namespace gpuwhy

#endif  // GPUWHY_READER_GPU_READINGS_H_
