// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_NVIDIA_SMI_GPU_ROW_H_
#define GPUWHY_READER_NVIDIA_SMI_GPU_ROW_H_

#include <map>
#include <string>
#include <string_view>

#include "reader/reader.h"

namespace gpuwhy::nvidia_smi {

// Pushes what is known of the GPUs of a text: readings as a fact (newest) and as a sample, whose time counts how often
// the GPU was read before.
class GpuWriter {
 public:
  GpuWriter(const PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Begin(long long index) { ++seen_[index]; }  // a row of that GPU: the next readings belong together
  void Put(long long index, const char* name, Value value, Source source, size_t line);
  // A number in base units, or why there is none (the word that stands in its place).
  void Reading(long long index, const char* name, std::optional<double> value, std::string_view instead, size_t line);

 private:
  const PastedText& text_;
  EvidenceSink& sink_;
  std::map<long long, int> seen_;
};

// Cells of a GPU: each answers false when the cell is of another kind.
bool ReadSensors(GpuWriter& writer, long long index, std::string_view cell, size_t line);  // "30% 44C P2 58W / 250W"
bool ReadMemory(GpuWriter& writer, long long index, std::string_view cell, size_t line);   // "1011MiB / 11019MiB"
bool ReadUse(GpuWriter& writer, long long index, std::string_view cell, size_t line);      // "100% Default"
bool ReadMigMode(GpuWriter& writer, long long index, std::string_view cell, size_t line);  // "Enabled"

// nvidia-smi's name of a compute mode in the words of the nvml witness; "" for another text.
std::string ComputeMode(std::string_view text);

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_GPU_ROW_H_
