// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_TABLE_H_
#define GPUWHY_REPORT_TABLE_H_

#include <string>
#include <vector>

#include "report/writer.h"

namespace gpuwhy::report {

// Rows of equally many cells in columns as wide as their widest cell, two blanks apart; the first row is the head.
// Never wrapped: cells are short words and numbers.
void WriteTable(Writer& writer, int indent, const std::vector<std::vector<std::string>>& rows);

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_TABLE_H_
