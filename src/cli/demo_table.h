// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_CLI_DEMO_TABLE_H_
#define GPUWHY_CLI_DEMO_TABLE_H_

#include <string>
#include <vector>

#include "model/report.h"
#include "report/reporter.h"

namespace gpuwhy::cli {

// Two reports of the same training side by side: samples a second, time in the loader, duty cycle, and how the rate
// grew. What a report does not know is said to be unknown.
std::string DemoTable(const Report& before, const Report& after, const report::Options& options);

}  // namespace gpuwhy::cli

#endif  // GPUWHY_CLI_DEMO_TABLE_H_
