// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_NVIDIA_SMI_MIG_H_
#define GPUWHY_READER_NVIDIA_SMI_MIG_H_

#include <map>
#include <optional>
#include <string_view>

#include "reader/gpu_readings.h"

namespace gpuwhy::nvidia_smi {

// The MIG state of the GPUs of one table, and the table of MIG devices below it.
class MigTable {
 public:
  explicit MigTable(GpuReadings& readings) : readings_(readings) {}

  // The cell of the third row: "Enabled", "Disabled", "N/A". With a star the mode shown waits for a reset of the GPU;
  // whether MIG is on now shows in the use of the GPU, which the driver does not count under MIG.
  bool Mode(long long gpu, std::string_view cell, std::optional<bool> use_counted, size_t line);

  void Open() { open_ = true; }
  bool open() const { return open_; }
  // A row of the table: "1 3 0 0" (GPU, GI, CI, device), with the cell behind it. Answers whether it was understood.
  bool Row(std::string_view cell, std::string_view next, size_t line);
  // The table is over; `whole` when what follows it shows that nothing was cut off.
  void Close(bool whole);

 private:
  GpuReadings& readings_;
  bool open_ = false, none_ = false;
  size_t rows_ = 0, memories_ = 0;
  std::map<long long, size_t> enabled_, lines_;
  std::map<long long, StringList> instances_;
};

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_MIG_H_
