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
  bool closed = true;     // a bar or border stands behind it: not cut off with the end of its line
};

// Cells of all lines that could belong to a table: those with bars, and borders. Bars and rules may be drawn.
std::vector<Cell> FindCells(const PastedText& text);

// "580.95.05" after `label`, with blanks and a colon between.
std::optional<std::string> VersionAfter(std::string_view text, std::string_view label);

// A number with its unit behind it ("12MiB", "45C", "61 W", "58%"); nothing for N/A, ERR! and the like.
std::optional<double> NumberWithUnit(std::string_view text, std::string_view unit);

// Bytes of "7481MiB", or of the "2.3GiB" of monitors that draw nvidia-smi's table.
std::optional<double> MemoryBytes(std::string_view text);

// Where the slash between two values stands, which is not the one of N/A; npos when there is none.
size_t FindSlash(std::string_view text);

// The bus id (00000000:01:00.0, before driver 384 0000:01:00.0) of a cell that holds one and at most the state of the
// display; "" for every other cell.
std::string BusIdOf(std::string_view cell);
// The same cell of a GPU that is on no bus (Jetson): "N/A  N/A".
bool IsNoBus(std::string_view cell);

// A word with which nvidia-smi says that it has no value: "N/A", "[Not Supported]", "ERR!", "[GPU is lost]".
bool NoValue(std::string_view text);
// A word that tells of a fault, not of a missing feature: "ERR!", "[GPU is lost]", "[GPU requires reset]".
bool Broken(std::string_view text);
// The value that such a word stands for: unsupported, no permission or not found, in the words of nvidia-smi.
Value Absent(std::string_view text);

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_CELLS_H_
