// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_NVIDIA_SMI_TITLE_H_
#define GPUWHY_READER_NVIDIA_SMI_TITLE_H_

#include <optional>
#include <string>
#include <string_view>

namespace gpuwhy::nvidia_smi {

// The versions of the title box. The CUDA version may be a word: "N/A" where libcuda is missing, "ERR!" where it fails.
struct Title {
  std::optional<std::string> program, driver, cuda;
  bool begins_table = false;  // no title that a user typed into a table of his own
};

// What a cell says of versions; nothing for cells that are no title. A title may have lost its first or last words;
// where it is not closed, a driver version at its end may be half of one.
std::optional<Title> ParseTitle(std::string_view cell, bool closed);

// A cell of the title or header of another vendor's tool: several imitate nvidia-smi's table down to the bars.
bool IsForeign(std::string_view cell);
// A name that only other vendors' boards have, for tables whose title is cut off.
bool IsForeignName(std::string_view name);

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_TITLE_H_
