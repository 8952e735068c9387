// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "cli/deliver.h"
#include "cli/machine_text.h"
#include "cli/subcommand.h"
#include "session/machine.h"
#include "session/mask.h"
#include "session/share.h"

namespace gpuwhy::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--python", "EXE", "look into this interpreter too (a path, or a name on PATH)", true},
    {"--share", "", "one Markdown block for a forum post: user, host, private paths, serial numbers and UUIDs masked"},
};

// A fence longer than any row of backticks in the text: nothing can end it early.
std::string Fenced(const std::string& text, const std::string& language) {
  size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fence + language + "\n" + text + (!text.empty() && text.back() == '\n' ? "" : "\n") + fence + "\n";
}

int Share(const Evidence& evidence, const Arguments& arguments) {
  if (arguments.Has("--format") || arguments.Has("--json")) {
    return Fail(
        {ErrorCode::kUsage, "--share writes Markdown and no other format", "leave out --format, or leave out --share"});
  }
  Identity identity = Identity::OfThisProcess();
  const auto add = [&](const std::string& python) {
    identity.paths.push_back(python);
    // The environment that it stands in: its packages lie below.
    const size_t folder = python.rfind("/bin/");
    if (folder != std::string::npos) identity.paths.push_back(python.substr(0, folder));
  };
  for (const std::string& python : arguments.All("--python")) {
    if (python.find('/') != std::string::npos) add(python);
  }
  for (const Entity& python : evidence.Entities(EntityKind::kInterpreter)) add(python.id);
  Masker masker(std::move(identity));
  const Evidence masked = Masked(evidence, masker);
  const Result<std::string> session = SessionText(masked);
  if (!session) return Fail(session.error());
  const Report report = Judge(masked);
  report::Options options = arguments.options;
  options.color = false;
  options.verbose = false;
  const auto text = [&](const char* key) { return report::LocaleText(key, options.language); };
  const std::string block = Format("**gpuwhy doctor**\n\n{}\n{}\n\n{}\n", Fenced(MachineText(report, options), "text"),
                                   text("doctor.share.data"), Fenced(*session, "json"));
  if (const Result<void> done = WriteResult(block, arguments); !done) return Fail(done.error());
  return StatusOf(report);
}

int Run(const Arguments& arguments) {
  const Evidence evidence = LookAtMachine(arguments.All("--python"));
  return arguments.Has("--share") ? Share(evidence, arguments) : Deliver(Judge(evidence), arguments);
}

}  // namespace

extern const Subcommand kSubcommand_doctor;
constinit const Subcommand kSubcommand_doctor{
    .name = "doctor",
    .summary = "Check driver, NVML, device nodes, toolkits and the frameworks of each Python",
    .positionals = "",
    .min_positionals = 0,
    .max_positionals = 0,
    .takes_command = false,
    .flags = kFlags,
    .run = &Run};

}  // namespace gpuwhy::cli
