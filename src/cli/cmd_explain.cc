// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "cli/deliver.h"
#include "cli/subcommand.h"
#include "session/diagnose.h"

namespace gpuwhy::cli {
namespace {

// Several files: their reports one after the other (JSON: a sequence of documents), the worst status.
int Run(const Arguments& arguments) {
  std::string out;
  int status = 0;
  const bool titled = arguments.positionals.size() > 1 && arguments.options.format == "text";
  for (const std::string& file : arguments.positionals) {
    const Result<Report> report = DiagnoseSessionFile(file);
    if (!report) {
      status = Fail(report.error());
      continue;
    }
    const Result<std::string> text = RenderReport(*report, arguments, STDOUT_FILENO);
    if (!text) return Fail(text.error());
    if (titled) out += (out.empty() ? "== " : "\n== ") + file + "\n";
    out += *text;
    status = std::max(status, StatusOf(*report));
  }
  if (out.empty()) return status;
  const Result<void> done = WriteResult(out, arguments);
  return done ? status : Fail(done.error());
}

}  // namespace

extern const Subcommand kSubcommand_explain;
constinit const Subcommand kSubcommand_explain{
    .name = "explain",
    .summary = "Say what a session shows (FILE, - for standard input, last for the newest)",
    .positionals = "FILE...",
    .min_positionals = 1,
    .max_positionals = SIZE_MAX,
    .takes_command = false,
    .flags = {},
    .run = &Run};

}  // namespace gpuwhy::cli
