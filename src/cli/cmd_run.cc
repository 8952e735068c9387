// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "base/format.h"
#include "base/text.h"
#include "cli/deliver.h"
#include "cli/subcommand.h"
#include "session/run.h"

namespace gpuwhy::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--session", "FILE", "record the session there (default: the newest 20 are kept in the state folder)"},
    {"--for", "S", "stop watching after S seconds; the job goes on"},
    {"--window", "S",
     "0: never open a window inside the job; default: short windows as described in docs/witnesses/cuda.md"},
    {"--trace", "MODE", "window (default), permanent (every kernel, costs some per cent), off"},
    {"--fail-on", "WHAT", "not-used, warning or error: exit 3 if the job ended well but the verdict did not"},
    {"--stop-on", "WHAT",
     "not-used: end the job (SIGTERM, exit 3) as soon as it is clear that it does not use the GPU"},
};

Error Usage(const std::string& message, const std::string& hint) { return {ErrorCode::kUsage, message, hint}; }

Result<RunOptions> OptionsOf(const Arguments& arguments) {
  RunOptions options;
  options.command = arguments.command;
  options.session_path = arguments.Get("--session").value_or("");
  if (options.command.empty()) return Usage("run needs a command", "gpuwhy run -- python train.py");
  if (const std::optional<std::string> seconds = arguments.Get("--for")) {
    const std::optional<double> value = ParseDouble(*seconds);
    if (!value || *value <= 0)
      return Usage(Format("--for {} is no positive number of seconds", *seconds), "for example --for 60");
    options.watch_seconds = *value;
  }
  options.trace = arguments.Get("--trace").value_or("window");
  if (options.trace != "window" && options.trace != "permanent" && options.trace != "off")
    return Usage(Format("--trace {} is not known", options.trace), "use window, permanent or off");
  if (const std::optional<std::string> window = arguments.Get("--window")) {
    const std::optional<double> value = ParseDouble(*window);
    if (!value || *value < 0)
      return Usage(Format("--window {} is no number of seconds", *window), "for example --window 1, or 0 for none");
    if (*value == 0) options.trace = "off";
  }
  const std::string fail_on = arguments.Get("--fail-on").value_or("");
  if (!fail_on.empty() && fail_on != "not-used" && fail_on != "warning" && fail_on != "error")
    return Usage(Format("--fail-on {} is not known", fail_on), "use not-used, warning or error");
  const std::string stop_on = arguments.Get("--stop-on").value_or("");
  if (!stop_on.empty() && stop_on != "not-used")
    return Usage(Format("--stop-on {} is not known", stop_on), "use not-used");
  options.stop_on_not_used = stop_on == "not-used";
  for (const std::string& path : {arguments.output, options.session_path}) {
    options.job.keep_all = options.job.keep_all || path.rfind("/dev/", 0) == 0 || path.rfind("/proc/", 0) == 0;
  }
  return options;
}

bool Fails(const Report& report, const std::string& fail_on) {
  if (fail_on == "not-used") return report.verdict.gpu_used == GpuUsed::kNo;
  for (const Finding& finding : report.findings) {
    if (fail_on == "error" && finding.severity == Severity::kError) return true;
    if (fail_on == "warning" && finding.severity != Severity::kInfo) return true;
  }
  return false;
}

void Warn(const Report& report, report::Language language) {
  std::string fix;
  for (const Finding& finding : report.findings) {
    if (finding.cause == report.verdict.cause) fix = report::FindingTitle(finding, language);
  }
  const std::string line =
      "gpuwhy: " +
      report::LocaleText("run.early_warning", language, {{"cause", report.verdict.cause}, {"title", fix}}) + "\n";
  (void)WriteDescriptor(STDERR_FILENO, line).has_value();
}

// The report goes to stderr, for stdout belongs to the job; -q without -o writes nothing at all.
Result<void> Hand(const Report& report, const Arguments& arguments) {
  if (arguments.output.empty() && arguments.quiet) return {};
  const Result<std::string> text = RenderReport(report, arguments, STDERR_FILENO);
  if (!text) return text.error();
  return arguments.output.empty() ? WriteDescriptor(STDERR_FILENO, *text) : WriteResult(*text, arguments);
}

int Run(const Arguments& arguments) {
  Result<RunOptions> options = OptionsOf(arguments);
  if (!options) {
    (void)Fail(options.error());
    return 125;
  }
  const InheritedState inherited = CaptureInheritedState();
  const report::Language language = arguments.options.language;
  if (!arguments.quiet && isatty(STDERR_FILENO) != 0)
    options->on_not_used = [language](const Report& report) { Warn(report, language); };
  for (const std::string& path : RecoverOrphans()) {
    if (arguments.verbose)
      (void)WriteDescriptor(STDERR_FILENO, Format("gpuwhy: recovered the session of a killed gpuwhy: {}\n", path))
          .has_value();
  }
  Result<RunResult> result = RunJob(inherited, *options);
  if (!result) {
    (void)Fail(result.error());
    return JobStartExitStatus(result.error());
  }
  if (const Result<void> handed = Hand(result->report, arguments); !handed && !arguments.quiet)
    (void)Fail(handed.error());
  if (result->stopped_by_us) return 3;
  const bool ended_well = result->job->exit_code() == 0;
  if (ended_well && arguments.Has("--fail-on") && Fails(result->report, *arguments.Get("--fail-on"))) return 3;
  result->job->ExitLikeJob();
}

}  // namespace

extern const Subcommand kSubcommand_run;
constinit const Subcommand kSubcommand_run{
    .name = "run",
    .summary = "Run a command, watch it, and say at its end whether and how well it used the GPU",
    .positionals = "",
    .min_positionals = 0,
    .max_positionals = 0,
    .takes_command = true,
    .flags = kFlags,
    .run = &Run};

}  // namespace gpuwhy::cli
