// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// Runs a command under Job and ends as it ended: the supervising part of `gpuwhy run` alone.
// usage: job_driver [run] [-q] [-o FILE] -- COMMAND ARGUMENT...   (FILE gets one line about the end)
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/format.h"
#include "session/job.h"

namespace gpuwhy {
namespace {

int Main(int argc, char** argv) {
  const InheritedState inherited = CaptureInheritedState();
  std::vector<std::string> command;
  std::string output;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "-o" && i + 1 < argc) output = argv[++i];
    if (argument != "--") continue;
    command.assign(argv + i + 1, argv + argc);
    break;
  }
  JobOptions options;
  options.keep_all = output.rfind("/dev/", 0) == 0 || output.rfind("/proc/", 0) == 0;
  Result<Job> job = Job::Start(inherited, command, {}, options);
  if (!job) {
    std::fprintf(stderr, "gpuwhy: %s\n", job.error().Line().c_str());
    return JobStartExitStatus(job.error());
  }
  while (job->Wait(200'000'000) != JobEvent::kEnded) {
  }
  if (!output.empty()) {
    const std::string line = Format("{{\"exit_code\": {}, \"signal\": {}}}\n", job->exit_code().value_or(-1),
                                    job->term_signal().value_or(0));
    if (const Result<void> written = WriteFile(output, line); !written) {
      std::fprintf(stderr, "gpuwhy: %s\n", written.error().Line().c_str());
    }
  }
  job->ExitLikeJob();
}

}  // namespace
}  // namespace gpuwhy

int main(int argc, char** argv) { return gpuwhy::Main(argc, argv); }
