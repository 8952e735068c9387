// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_JOB_H_
#define GPUWHY_SESSION_JOB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

// How `run` starts a command and supervises it so that neither the command nor the shell notices:
//
//   const InheritedState inherited = CaptureInheritedState();  // first act: before a file is opened or a thread
//   started
//   ...                                                        // spool, session file, witnesses
//   Result<Job> job = Job::Start(inherited, arguments.command, environment.changes, {});
//   if (!job) return Fail(job.error()), JobStartExitStatus(job.error());   // 127, 126 or 125
//   while (job->Wait(next_tick_ns - MonotonicNs()) != JobEvent::kEnded) { ... one tick of the witnesses ... }
//   ... report ...
//   job->ExitLikeJob();                                        // or return a status of one's own (--fail-on)
namespace gpuwhy {

// What gpuwhy was started with and the job has to get unchanged.
struct InheritedState {
  std::set<int> descriptors;      // open at the start; every other descriptor is closed in the job
  std::set<int> ignored_signals;  // for instance SIGHUP under nohup
  std::set<int> blocked_signals;
};

// Reads that state, then makes gpuwhy safe to run: closed descriptors 0-2 are held by /dev/null (closed again in the
// job), SIGPIPE and SIGXFSZ are ignored (a closed stderr or a file size limit must not end gpuwhy), and the signals
// that a supervisor handles are held back until Job::Start, also from threads started later.
InheritedState CaptureInheritedState();

// Name -> new value, or nothing = remove. All other variables reach the job byte by byte and in their order.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

struct JobOptions {
  // Descriptors that gpuwhy itself still needs after the start. All other inherited ones are given up, so that a pipe
  // closes when the job closes its end. Keep all when the report goes to a path under /dev or /proc (`-o /dev/fd/63`).
  std::set<int> keep = {2};
  bool keep_all = false;
};

enum class JobEvent : uint8_t { kTimeout, kEnded, kContinued };  // kContinued: the job was stopped (Ctrl-Z) and goes on

class Job {
 public:
  // Runs `command` (looked up in PATH) as a child in the same process group, session, terminal and working folder.
  // Errors: kNotFound = no such command, kPermission = found but cannot be executed, others = our own fault.
  static Result<Job> Start(const InheritedState& inherited, const std::vector<std::string>& command,
                           const EnvironmentChanges& changes, const JobOptions& options);
  ~Job();
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;

  // Sleeps until the job ends, the job was stopped and continued, or `timeout_ns` passed (<= 0: looks once). Passes on
  // signals that were sent to gpuwhy alone, stops and continues gpuwhy together with the job.
  JobEvent Wait(int64_t timeout_ns);

  int64_t pid() const;
  bool ended() const;
  // How it ended; only after Wait returned kEnded. Exactly one of the two is set.
  std::optional<int> exit_code() const;
  std::optional<int> term_signal() const;
  double stopped_seconds() const;  // time that the job was stopped, to be left out of rates

  // SIGTERM to the job (--stop-on not-used).
  void Terminate();

  // Ends gpuwhy as the job ended: same status, or same signal without a second core file.
  [[noreturn]] void ExitLikeJob();

 private:
  struct State;
  explicit Job(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Exit status of `run` for an error of Job::Start: 127, 126 or 125 (as env, nohup and timeout do).
int JobStartExitStatus(const Error& error);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_JOB_H_
