// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <algorithm>

#include "report/layout.h"

namespace gpuwhy::report {

void WriteTable(Writer& writer, int indent, const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  for (const std::vector<std::string>& row : rows) {
    std::string line(static_cast<size_t>(indent), ' ');
    for (size_t i = 0; i < row.size(); ++i) line += Pad(row[i], widths[i]) + (i + 1 < row.size() ? "  " : "");
    writer.Item(line, "", &row == &rows.front() ? Paint::kDim : Paint::kPlain);
  }
}

}  // namespace gpuwhy::report
