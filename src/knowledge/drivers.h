// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_KNOWLEDGE_DRIVERS_H_
#define GPUWHY_KNOWLEDGE_DRIVERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "knowledge/tables.h"

// Drivers and the CUDA versions that they offer. Rules: NVIDIA CUDA Compatibility guide; numbers: driver_cuda.tsv and
// cuda_minimum_driver.tsv.
namespace gpuwhy::knowledge {

// Branch of a driver version ("525.125.06", "388.73"). Nothing: no version, or a driver that the table does not know.
const DriverBranch* BranchOfDriver(std::string_view driver);

// 10010 -> "10.1", 12040 -> "12.4": the number that cuDriverGetVersion and "found version" give. "" if it is none.
std::string CudaOfNumber(int64_t number);

// May a driver that offers one CUDA version run a program built for another? From CUDA 11 on within a major version
// (minor version compatibility) and upwards, before only if the driver's is at least the program's. Nothing: no
// versions.
std::optional<bool> DriverRuns(std::string_view offered, std::string_view built);

// Oldest driver that runs programs built for that CUDA; "" when the tables do not say.
std::string_view OldestDriverFor(std::string_view cuda, bool windows);

// < 0, 0, > 0 for two dotted versions; nothing when one is none.
std::optional<int> CompareVersions(std::string_view a, std::string_view b);

}  // namespace gpuwhy::knowledge

#endif  // GPUWHY_KNOWLEDGE_DRIVERS_H_
