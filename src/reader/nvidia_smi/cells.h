// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_NVIDIA_SMI_CELLS_H_
#define GPUWHY_READER_NVIDIA_SMI_CELLS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/reader.h"

namespace gpuwhy::nvidia_smi {

// What stands between two bars of a table, and where. The reader walks over cells and not over rows: a table whose
// blanks were collapsed, whose lines were joined into one or whose borders are gone has the same cells in the same
// order.
struct Cell {
  std::string_view text;  // trimmed, never empty
  size_t line = 0;        // index into the text
  bool border = false;    // "+-----+" or "|=====|": text is empty
};

// Cells of all lines that could belong to a table: those with bars, and borders.
std::vector<Cell> FindCells(const PastedText& text);

std::vector<std::string_view> Words(std::string_view text);

// "580.95.05" after `label`, with blanks between.
std::optional<std::string> VersionAfter(std::string_view text, std::string_view label);

// A number with its unit behind it ("12MiB", "45C", "61 W", "58%"); nothing for N/A, ERR! and the like.
std::optional<double> NumberWithUnit(std::string_view text, std::string_view unit);

// 00000000:01:00.0 or 0000:01:00.0 anywhere in the cell; "" when there is none.
std::string BusIdIn(std::string_view text);

// The words with which nvidia-smi says that it has no value, as they stand; nothing for everything else.
std::optional<std::string> NoValue(std::string_view text);

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_CELLS_H_
