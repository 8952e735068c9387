// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_NVIDIA_SMI_COLUMNS_H_
#define GPUWHY_READER_NVIDIA_SMI_COLUMNS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/gpu_readings.h"

namespace gpuwhy::nvidia_smi {

// A column of a query: nvidia-smi's name, without the unit in brackets behind it.
struct Heading {
  std::string query;
  bool unit = false;
};

std::vector<std::string_view> CsvFields(std::string_view line);

// The header row of a query: every field is a name of nvidia-smi's, or nearly every one (newer drivers add names).
std::vector<Heading> ParseCsvHeader(std::string_view line);
// What the options of a command line ask for, where its answer has no header row.
std::vector<Heading> ParseCsvCommand(std::string_view line);
// A command line that repeats its query until it is stopped.
bool RepeatsQuery(std::string_view line);

// Whether a field could stand in that column; nothing where any text could.
std::optional<bool> FieldFits(std::string_view query, std::string_view field);

// A field with the unit of its column behind it, as every number has without the option nounits.
bool HasUnit(std::string_view query, std::string_view field);

// Pushes the fact of a field. False: the field cannot be read.
bool WriteField(GpuReadings& readings, long long gpu, std::string_view query, std::string_view field, size_t line);

// Name of ours for a column that tells whether a limit holds the clocks; "" for other columns.
std::string ThrottleReason(std::string_view query);
// The reasons in the bit mask of clocks_event_reasons.active (nvml.h, nvmlClocksEventReason...).
std::vector<std::pair<std::string, bool>> ThrottleReasons(std::string_view mask);

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_COLUMNS_H_
