// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_NVIDIA_SMI_TABLE_H_
#define GPUWHY_READER_NVIDIA_SMI_TABLE_H_

#include "reader/reader.h"

namespace gpuwhy::nvidia_smi {

// The tables that nvidia-smi prints without arguments, of drivers 346 to 610, Linux and Windows, with MIG and
// processes, pasted once or more often. Layouts differ in widths, in the columns of the process box and in the third
// row of a GPU; what the cells hold does not.
void ReadTables(PastedText& text, EvidenceSink& sink);

// Answers of --query-gpu and --query-compute-apps in CSV, with their header row.
void ReadQueries(PastedText& text, EvidenceSink& sink);

}  // namespace gpuwhy::nvidia_smi

#endif  // GPUWHY_READER_NVIDIA_SMI_TABLE_H_
