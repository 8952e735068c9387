// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "cli/deliver.h"
#include "cli/demo_table.h"
#include "cli/subcommand.h"
#include "session/diagnose.h"
#include "session/embedded.h"

namespace gpuwhy::cli {
namespace {

// "h200-resnet50-workers-0.gpuwhy" -> "h200-resnet50-workers-0".
std::string TitleOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return std::string(name.substr(0, name.find(".gpuwhy")));
}

// Number at the end of a name, so that workers-8 stands before workers-16.
long long Rank(std::string_view title) {
  const size_t at = title.find_last_not_of("0123456789");
  return ParseInt(title.substr(at == std::string_view::npos ? 0 : at + 1)).value_or(0);
}

struct Replay {
  std::string title;
  Report report;
};

Result<std::vector<Replay>> ReplayAll() {
  std::vector<Replay> replays;
  for (const EmbeddedFile& file : EmbeddedDemo()) {
    Result<Report> report = DiagnoseInput(file.data, std::string(file.path));
    if (!report) return report.error();
    replays.push_back({TitleOf(file.path), std::move(*report)});
  }
  std::stable_sort(replays.begin(), replays.end(),
                   [](const Replay& a, const Replay& b) { return Rank(a.title) < Rank(b.title); });
  if (!replays.empty()) return replays;
  return Error{ErrorCode::kNotFound, "this gpuwhy was built without recorded sessions",
               "build it from a source tree that has docs/demo/*.gpuwhy, or watch a job of yours: gpuwhy run -- CMD"};
}

// The status says whether the replay worked: what the recorded job suffered from is no fault of this machine.
int Run(const Arguments& arguments) {
  const Result<std::vector<Replay>> replays = ReplayAll();
  if (!replays) return Fail(replays.error());
  const bool text = arguments.options.format == "text";
  const report::Language language = arguments.options.language;
  std::string out = text ? report::LocaleText("demo.intro", language) + "\n" : "";
  size_t number = 0;
  for (const Replay& replay : *replays) {
    const Result<std::string> shown = RenderReport(replay.report, arguments, STDOUT_FILENO);
    if (!shown) return Fail(shown.error());
    if (text)
      out += Format("\n== {}. {}\n", ++number, report::LocaleText("demo.heading", language, {{"name", replay.title}}));
    out += *shown;
  }
  if (text && replays->size() >= 2)
    out += DemoTable(replays->front().report, replays->back().report, arguments.options);
  const Result<void> done = WriteResult(out, arguments);
  return done ? 0 : Fail(done.error());
}

}  // namespace

extern const Subcommand kSubcommand_demo;
constinit const Subcommand kSubcommand_demo{
    .name = "demo",
    .summary = "Replay recorded training runs, before and after a fix; needs no GPU",
    .positionals = "",
    .min_positionals = 0,
    .max_positionals = 0,
    .takes_command = false,
    .flags = {},
    .run = &Run};

}  // namespace gpuwhy::cli
