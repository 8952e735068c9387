// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/title.h"

#include "base/text.h"
#include "reader/nvidia_smi/cells.h"
#include "reader/words.h"

namespace gpuwhy::nvidia_smi {
namespace {

// Drivers that print this table count from 304; imitations and Windows' own version numbers (31.0.15.x) do not.
constexpr int kFirstBranch = 300;

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool IsDriver(const std::optional<std::string>& version) {
  const std::optional<Version> parsed = version ? ParseVersion(*version) : std::nullopt;
  return parsed && parsed->major() >= kFirstBranch;
}

std::optional<std::string> CudaVersion(std::string_view cell) {
  for (const std::string_view label : {"CUDA Version", "CUDA UMD Version"}) {
    const size_t place = cell.find(label);
    if (place == std::string_view::npos) continue;
    if (std::optional<std::string> version = VersionAfter(cell, label)) return version;
    const std::string_view rest = cell.substr(place + label.size());
    for (const std::string_view word : {"N/A", "ERR!", "Not Found"}) {
      if (StartsWith(Trim(rest.substr(std::min<size_t>(rest.find_first_not_of(": "), rest.size()))), word))
        return std::string(word);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Title> ParseTitle(std::string_view cell, bool closed) {
  if (cell.size() < 12 || (!Contains(cell, "NVIDIA-SMI") && !Contains(cell, "Version"))) return std::nullopt;
  Title title;
  title.program = VersionAfter(cell, "NVIDIA-SMI");
  title.driver = VersionAfter(cell, "Driver Version");
  if (!title.driver) title.driver = VersionAfter(cell, "KMD Version");
  if (!IsDriver(title.driver)) title.driver.reset();
  while (!cell.empty() && cell.back() == '.') cell.remove_suffix(1);
  const bool half = !closed && title.driver != title.program;
  if (half && title.driver && EndsWith(cell, *title.driver)) title.driver.reset();
  if (half && title.program && EndsWith(cell, *title.program)) title.program.reset();
  title.cuda = CudaVersion(cell);
  if (!title.program && !title.driver) return std::nullopt;  // "CUDA Version" alone may be the toolkit's
  title.begins_table = title.program.has_value() || title.cuda.has_value();
  return title;
}

bool IsForeign(std::string_view cell) {
  if (StartsWith(cell, "AIP ") || StartsWith(cell, "NPU ") || StartsWith(cell, "IX-ML")) return true;
  if (!Contains(cell, "ersion")) return false;
  const std::string lower = Lower(cell);
  for (const char* tool : {"hl-smi", "npu-smi", "mx-smi", "amd-smi", "rocm-smi", "hy-smi", "mthreads-gmi", "xpu-smi",
                           "ppu-smi", "amd smi"}) {
    if (Contains(lower, tool)) return true;
  }
  return false;
}

bool IsForeignName(std::string_view name) {
  for (const std::string_view maker :
       {"HL-", "Iluvatar", "MetaX", "MXC", "MTT ", "Ascend", "AMD ", "Radeon", "Instinct", "Biren", "DCU", "Intel"}) {
    if (StartsWith(name, maker)) return true;
  }
  return false;
}

}  // namespace gpuwhy::nvidia_smi
