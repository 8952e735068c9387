// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_CLI_DELIVER_H_
#define GPUWHY_CLI_DELIVER_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/subcommand.h"

namespace gpuwhy::cli {

// Call before any file is opened. A closed stdin, stdout or stderr becomes /dev/null (closed again on exec, so that a
// job still finds it closed): otherwise the next opened file would take its number and receive what is printed.
void GuardStandardStreams();

// The report in the format of --format, else of the extension of -o, else text. Colours and width are those of `fd`
// when it is the terminal that the text goes to.
Result<std::string> RenderReport(const Report& report, const Arguments& arguments, int fd);

// Options as they suit where the result goes: colours and width only for the terminal at `fd`, and only without -o.
report::Options OptionsFor(const Arguments& arguments, int fd);

// Writes all of `text` to an open descriptor. A reader that went away (EPIPE) is no error: it has seen enough.
Result<void> WriteDescriptor(int fd, std::string_view text);

// Writes a result where -o says, else to stdout. Never replaces a device, a pipe or a symbolic link by a file.
Result<void> WriteResult(std::string_view text, const Arguments& arguments);

// 1 when the report has a finding of warning or error, else 0.
int StatusOf(const Report& report);

}  // namespace gpuwhy::cli

#endif  // GPUWHY_CLI_DELIVER_H_
