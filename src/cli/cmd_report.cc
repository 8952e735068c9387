// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/format.h"
#include "base/text.h"
#include "cli/deliver.h"
#include "cli/subcommand.h"
#include "session/diagnose.h"

namespace gpuwhy::cli {
namespace {

// A report that was asked for as .html must not silently be text.
Result<void> CheckExtension(const Arguments& arguments) {
  if (arguments.output.empty() || arguments.Has("--format") || arguments.Has("--json")) return {};
  const std::string extension = std::filesystem::path(arguments.output).extension().string();
  std::vector<std::string> known;
  for (const report::Reporter* reporter : report::AllReporters()) {
    if (reporter->extension == extension) return {};
    known.emplace_back(reporter->extension);
  }
  return Error{ErrorCode::kUsage,
               Format("no report format for '{}': known are {}", arguments.output, Join(known, ", ")),
               "use one of them or name the format with --format"};
}

int Run(const Arguments& arguments) {
  if (const Result<void> fits = CheckExtension(arguments); !fits) return Fail(fits.error(), arguments.options.language);
  const Result<Report> report = DiagnoseFile(arguments.positionals.front());
  return report ? Deliver(*report, arguments) : Fail(report.error(), arguments.options.language);
}

}  // namespace

extern const Subcommand kSubcommand_report;
constinit const Subcommand kSubcommand_report{
    .name = "report",
    .summary = "Write the report of a session (last: the newest) in the format of -o FILE",
    .positionals = "SESSION",
    .min_positionals = 1,
    .max_positionals = 1,
    .takes_command = false,
    .flags = {},
    .run = &Run};

}  // namespace gpuwhy::cli
