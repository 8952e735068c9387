// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/deliver.h"
#include "cli/subcommand.h"
#include "session/diagnose.h"

namespace gpuwhy::cli {
namespace {

// A name may hold what moves the cursor of a terminal.
std::string Printable(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return name;
}

// A terminal as input would wait in silence for somebody to type.
Error NothingToRead() {
  return {ErrorCode::kUsage, "explain needs a file, or text on standard input",
          "for example: nvidia-smi | gpuwhy explain -"};
}

Error ReadTwice() { return {ErrorCode::kUsage, "standard input can be read only once", "give '-' once"}; }

// Several files: their reports one after the other (JSON: a sequence of documents), the worst status.
int Run(const Arguments& arguments) {
  std::vector<std::string> files = arguments.positionals;
  const report::Language language = arguments.options.language;
  if (files.empty()) {
    if (isatty(STDIN_FILENO) != 0) return Fail(NothingToRead(), language);
    files.emplace_back("-");
  }
  if (std::count(files.begin(), files.end(), "-") > 1) return Fail(ReadTwice(), language);
  std::string out;
  int status = 0;
  const bool titled = files.size() > 1 && arguments.options.format == "text";
  for (const std::string& file : files) {
    const Result<Report> report = DiagnoseFile(file);
    if (!report) {
      status = Fail(report.error(), language);
      continue;
    }
    const Result<std::string> text = RenderReport(*report, arguments, STDOUT_FILENO);
    if (!text) return Fail(text.error(), language);
    if (titled) out += (out.empty() ? "== " : "\n== ") + Printable(file) + "\n";
    out += *text;
    status = std::max(status, StatusOf(*report));
  }
  if (out.empty()) return status;
  const Result<void> done = WriteResult(out, arguments);
  return done ? status : Fail(done.error(), language);
}

}  // namespace

extern const Subcommand kSubcommand_explain;
constinit const Subcommand kSubcommand_explain{
    .name = "explain",
    .summary = "Answer from a paste, a log or a session (FILE, - for standard input, last for the newest session)",
    .positionals = "[FILE...]",
    .min_positionals = 0,
    .max_positionals = SIZE_MAX,
    .takes_command = false,
    .flags = {},
    .run = &Run};

}  // namespace gpuwhy::cli
