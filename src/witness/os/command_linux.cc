// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/command_linux.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/format.h"

namespace gpuwhy::os {
namespace {

constexpr size_t kMaxOutput = size_t{1} << 20;
constexpr size_t kMaxErrors = size_t{1} << 16;

std::vector<std::string> MergedEnvironment(const std::vector<std::string>& changes) {
  std::vector<std::string> merged;
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string name = name_of(*entry);
    const bool changed =
        std::any_of(changes.begin(), changes.end(), [&](const std::string& change) { return name_of(change) == name; });
    if (!changed) merged.emplace_back(*entry);
  }
  for (const std::string& change : changes) {
    if (change.find('=') != std::string::npos) merged.push_back(change);
  }
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts the program with stdin from /dev/null and the two pipes; returns its PID.
Result<pid_t> Spawn(std::vector<std::string> arguments, const std::vector<std::string>& environment, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int number : {SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD}) sigaddset(&defaults, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> merged = MergedEnvironment(environment);
  const std::string path = arguments[0];
  pid_t pid = 0;
  const int error_number =
      posix_spawn(&pid, path.c_str(), &actions, &attributes, Pointers(arguments).data(), Pointers(merged).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error_number != 0) return ErrnoError("cannot start " + path, error_number);
  return pid;
}

// Reads what is there into `text`; closes the descriptor (-1) at its end. More than `limit` is read and dropped.
void Drain(pollfd& source, std::string& text, size_t limit) {
  if (source.fd < 0 || source.revents == 0) return;
  char buffer[1 << 14];
  const ssize_t got = read(source.fd, buffer, sizeof buffer);
  if (got < 0 && errno == EINTR) return;
  if (got > 0) {
    text.append(buffer, std::min(static_cast<size_t>(got), limit - text.size()));
    return;
  }
  close(source.fd);
  source.fd = -1;
}

// The exit status of `pid`, or nothing when it still runs at the deadline.
std::optional<int> WaitUntil(pid_t pid, int64_t deadline_ns) {
  int status = 0;
  while (true) {
    const pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid) return status;
    if (done < 0 && errno != EINTR) return 0;
    if (MonotonicNs() >= deadline_ns) return std::nullopt;
    poll(nullptr, 0, 5);
  }
}

Result<CommandOutput> Collect(pid_t pid, pollfd (&sources)[2], const std::string& name, double limit_s) {
  CommandOutput result;
  const int64_t deadline_ns = MonotonicNs() + static_cast<int64_t>(limit_s * 1e9);
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    const int64_t left_ms = (deadline_ns - MonotonicNs()) / 1'000'000;
    if (left_ms <= 0) break;
    // A grandchild may keep the pipes open for ever: look every 100 ms whether the program itself is gone.
    const int ready = poll(sources, 2, static_cast<int>(std::min<int64_t>(left_ms, 100)));
    Drain(sources[0], result.output, kMaxOutput);
    Drain(sources[1], result.errors, kMaxErrors);
    siginfo_t info{};
    if (ready == 0 && waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid)
      break;
  }
  const std::optional<int> status = WaitUntil(pid, deadline_ns);
  kill(-pid, SIGKILL);  // whatever of its group is left
  if (!status) {
    waitpid(pid, nullptr, 0);
    return Error{ErrorCode::kTimeout, Format("{} did not end within {:.3g} s", name, limit_s), ""};
  }
  result.status = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
  return result;
}

}  // namespace

Result<CommandOutput> RunCommand(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                                 double limit_s) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return ErrnoError("pipe", errno);
  if (pipe2(err, O_CLOEXEC) != 0) {
    const int error_number = errno;
    close(out[0]);
    close(out[1]);
    return ErrnoError("pipe", error_number);
  }
  const Result<pid_t> pid = Spawn(arguments, environment, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  pollfd sources[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  Result<CommandOutput> result =
      pid ? Collect(*pid, sources, arguments[0], limit_s) : Result<CommandOutput>(pid.error());
  for (const pollfd& source : sources) {
    if (source.fd >= 0) close(source.fd);
  }
  return result;
}

}  // namespace gpuwhy::os
