// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_NVIDIA_SMI_GPU_ROW_H_
#define GPUWHY_READER_NVIDIA_SMI_GPU_ROW_H_

#include <optional>
#include <string>
#include <string_view>

#include "reader/gpu_readings.h"

namespace gpuwhy::nvidia_smi {

// The left upper cell of a GPU: "0 NVIDIA GeForce RTX 4050 ... WDDM".
struct GpuHead {
  long long index = 0;
  std::string name,
      mode;  // mode: On, Off, WDDM, TCC, MCDM or N/A; "" when it is cut off
};
std::optional<GpuHead> ParseHead(std::string_view cell);

// Pushes the name, persistence mode or driver model of a head; an error where the driver has no name.
void WriteHead(GpuReadings& readings, const GpuHead& head, size_t line);

// A reading in base units, or the word that stands in its place; a fault becomes the fact gpu.error.
void WriteReading(GpuReadings& readings, long long index, const char* name, std::optional<double> value,
                  std::string_view instead, size_t line);

// Cells of a GPU: each answers false when the cell is of another kind.
bool IsSensors(std::string_view cell);
bool ReadSensors(GpuReadings& readings, long long index, std::string_view cell,
                 size_t line);  // "30% 44C P2 58W / 250W"
bool ReadMemory(GpuReadings& readings, long long index, std::string_view cell,
                size_t line);  // "1011MiB / 11019MiB"
bool ReadUse(GpuReadings& readings, long long index, std::string_view cell,
             size_t line);  // "100% Default"
// The errors of the row above the sensors: "0", "Off", "N/A", "On" (MIG has them in its own table).
bool ReadEcc(GpuReadings& readings, long long index, std::string_view cell, size_t line);

// nvidia-smi's name of a compute mode in the words of the nvml witness; "" for another text.
std::string ComputeMode(std::string_view text);

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_GPU_ROW_H_
