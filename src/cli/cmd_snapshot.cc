// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/clock.h"
#include "base/format.h"
#include "cli/deliver.h"
#include "cli/subcommand.h"
#include "session/machine.h"

namespace gpuwhy::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--time", "", "say on stderr how long it took (with -v: looking and telling apart)"},
};

double Milliseconds(int64_t from_ns, int64_t to_ns) { return static_cast<double>(to_ns - from_ns) * 1e-6; }

int Run(const Arguments& arguments) {
  const int64_t start = MonotonicNs();
  const Evidence evidence = LookAtGpus();
  const int64_t looked = MonotonicNs();
  const int status = Deliver(Judge(evidence), arguments);
  const int64_t end = MonotonicNs();
  if (!arguments.Has("--time")) return status;
  std::string line = Format("gpuwhy: {:.1f} ms", Milliseconds(start, end));
  if (arguments.verbose)
    line += Format(" (looking {:.1f} ms, judging and writing {:.1f} ms)", Milliseconds(start, looked),
                   Milliseconds(looked, end));
  (void)WriteDescriptor(STDERR_FILENO, line + "\n").has_value();
  return status;
}

}  // namespace

extern const Subcommand kSubcommand_snapshot;
constinit const Subcommand kSubcommand_snapshot{
    .name = "snapshot",
    .summary = "Show the GPUs, who uses them, and one line of advice (also: gpuwhy alone)",
    .positionals = "",
    .min_positionals = 0,
    .max_positionals = 0,
    .takes_command = false,
    .flags = kFlags,
    .run = &Run};

}  // namespace gpuwhy::cli
