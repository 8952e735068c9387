// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_CLI_MACHINE_TEXT_H_
#define GPUWHY_CLI_MACHINE_TEXT_H_

#include <string>

#include "model/report.h"
#include "report/reporter.h"
#include "report/writer.h"

namespace gpuwhy::cli {

// Text of a look at a machine (session/machine.h): the checklist of doctor or the table of a snapshot.
std::string MachineText(const Report& report, const report::Options& options);

// Parts of it, in files of their own.
void WriteChecklist(const Report& report, report::Writer& writer);
void WriteSnapshot(const Report& report, report::Writer& writer);

// Findings in short: title, what it means, what to do.
void WriteShortFindings(const Report& report, report::Writer& writer);

}  // namespace gpuwhy::cli

#endif  // GPUWHY_CLI_MACHINE_TEXT_H_
