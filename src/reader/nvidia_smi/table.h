// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_NVIDIA_SMI_TABLE_H_
#define GPUWHY_READER_NVIDIA_SMI_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reader/gpu_readings.h"

namespace gpuwhy::nvidia_smi {

// Indices of the GPUs of a text by what else names them: tables say index and bus id, lists of processes only a UUID or
// a bus id.
class GpuNames {
 public:
  void Learn(std::string_view name, long long index);
  std::optional<long long> Find(std::string_view name) const;

 private:
  std::map<std::string, long long> index_;
};

// The tables that nvidia-smi prints without arguments, of drivers 346 to 610, Linux and Windows, with MIG and
// processes, pasted once or more often. Layouts differ in widths, in the columns of the process box and in the third
// row of a GPU; what the cells hold does not. Tables of other vendors' tools that imitate it are left alone.
void ReadTables(PastedText& text, EvidenceSink& sink, GpuReadings& readings, GpuNames& names);

// Answers of --query-gpu and --query-compute-apps in CSV: by their header row, without one by the command line.
void ReadQueries(PastedText& text, EvidenceSink& sink, GpuReadings& readings, GpuNames& names);

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_TABLE_H_
