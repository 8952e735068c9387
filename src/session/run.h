// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_RUN_H_
#define GPUWHY_SESSION_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/report.h"
#include "session/job.h"

namespace gpuwhy {

struct RunOptions {
  std::vector<std::string> command;
  std::string session_path;       // empty: the store of this user
  std::string trace = "window";   // window, permanent, off
  double watch_seconds = 0;       // --for: 0 = as long as the job lives
  bool stop_on_not_used = false;  // SIGTERM to the job once the verdict is "no"
  JobOptions job;
  // Called once, while the job runs, when the verdict is "no" with a confidence of at least 0.9.
  std::function<void(const Report&)> on_not_used;
};

struct RunResult {
  Report report;
  std::optional<Job> job;      // ended
  bool stopped_by_us = false;  // --stop-on not-used
};

// Starts the command, watches it until it ends and judges. Errors are those of Job::Start; everything else that goes
// wrong becomes a gap, for the job matters more than its watcher.
Result<RunResult> RunJob(const InheritedState& inherited, const RunOptions& options);

// Reads what a killed gpuwhy of this user left in its spools into sessions of their own. Returns their paths.
std::vector<std::string> RecoverOrphans();

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_RUN_H_
