// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "session/job.h"
#include "session/signal_companion_linux.h"

namespace gpuwhy {
namespace {

// Signals 32 and 33 belong to the C library's threads and cannot be changed through it.
bool Changeable(int number) { return number != SIGKILL && number != SIGSTOP && (number < 32 || number >= SIGRTMIN); }

// What gpuwhy takes from a queue instead of being hit by it. Faults, SIGPIPE and the limits stay as they are.
sigset_t HandledSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR,
                     SIGSTKFLT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH, SIGCHLD}) {
    sigaddset(&set, number);
  }
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) sigaddset(&set, number);
  return set;
}

void SetDisposition(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
}

// In the child, before exec, and in gpuwhy when it has to die as it would have without supervising.
void RestoreSignals(const InheritedState& inherited) {
  for (int number = 1; number <= SIGRTMAX; ++number) {
    if (Changeable(number)) SetDisposition(number, inherited.ignored_signals.count(number) != 0 ? SIG_IGN : SIG_DFL);
  }
  sigset_t mask;
  sigemptyset(&mask);
  for (int number : inherited.blocked_signals) sigaddset(&mask, number);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

std::vector<int> OpenDescriptors() {
  std::vector<int> open;
  if (const Result<std::vector<std::string>> names = ListFolder("/proc/self/fd")) {
    for (const std::string& name : *names) {
      const std::optional<long long> fd = ParseInt(name);
      if (fd && fcntl(static_cast<int>(*fd), F_GETFD) >= 0) open.push_back(static_cast<int>(*fd));
    }
    return open;
  }
  for (int fd = 0; fd < 1024; ++fd) {  // no /proc: what a shell can pass lies low
    if (fcntl(fd, F_GETFD) >= 0) open.push_back(fd);
  }
  return open;
}

// A library that gpuwhy loaded (NVML) may have opened files without O_CLOEXEC: in the job they would look like its own.
void HideOwnDescriptors(const InheritedState& inherited) {
  for (int fd : OpenDescriptors()) {
    const int flags = fcntl(fd, F_GETFD);
    if (inherited.descriptors.count(fd) == 0 && flags >= 0) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
  }
}

void GiveUpDescriptors(const InheritedState& inherited, const JobOptions& options) {
  if (options.keep_all) return;
  for (int fd : inherited.descriptors) {
    if (options.keep.count(fd) != 0) continue;
    if (fd > STDERR_FILENO) {
      close(fd);
      continue;
    }
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) continue;
    dup3(null, fd, O_CLOEXEC);
    close(null);
  }
}

std::vector<std::string> ChangedEnvironment(const EnvironmentChanges& changes) {
  std::vector<std::string> result;
  std::set<std::string> done;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string name(*entry, strcspn(*entry, "="));
    const auto change = changes.find(name);
    if (change == changes.end()) {
      result.emplace_back(*entry);
    } else if (change->second && done.insert(name).second) {
      result.push_back(name + "=" + *change->second);
    }
  }
  for (const auto& [name, value] : changes) {
    if (value && done.count(name) == 0) result.push_back(name + "=" + *value);
  }
  return result;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// The child: tells `report` the errno of a failed exec; a successful one closes the descriptor.
[[noreturn]] void Exec(const InheritedState& inherited, char* const* argv, char* const* envp, int report) {
  RestoreSignals(inherited);
  execvpe(argv[0], argv, envp);
  const int error_number = errno;
  const ssize_t put = write(report, &error_number, sizeof error_number);
  _exit(put == sizeof error_number ? 126 : 125);
}

Error ExecError(const std::string& name, int error_number) {
  Error error = ErrnoError(Format("cannot run '{}'", name), error_number);
  error.code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kPermission;
  if (error_number == ENOENT) {
    error.hint = FileExists(name) ? "the interpreter named in its first line is missing" : "check the name and PATH";
  }
  if (error_number == EACCES) error.hint = "it needs execute permission and a file system that allows it";
  return error;
}

Error OwnFault(const std::string& what, int error_number) {
  return {ErrorCode::kBusy, Format("{}: {}", what, std::strerror(error_number)), "run the command without gpuwhy"};
}

// A Ctrl-C or SIGTERM that came before there was a job: end as any program would. SIGCONT and the like are dropped.
void HonourPendingSignals(const InheritedState& inherited) {
  sigset_t pending;
  if (sigpending(&pending) != 0) return;
  for (int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    if (sigismember(&pending, number) != 1) continue;
    const sigset_t handled = HandledSignals();
    RestoreSignals(inherited);  // ends here unless it is ignored or was blocked
    SetDisposition(SIGPIPE, SIG_IGN);
    SetDisposition(SIGXFSZ, SIG_IGN);
    SetDisposition(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &handled, nullptr);
  }
}

}  // namespace

InheritedState CaptureInheritedState() {
  InheritedState state;
  for (int fd : OpenDescriptors()) state.descriptors.insert(fd);
  while (true) {  // open() takes the lowest free number
    const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd > STDERR_FILENO) close(fd);
    if (fd < 0 || fd > STDERR_FILENO) break;
  }
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction action {};
    if (!Changeable(number) || sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_IGN) state.ignored_signals.insert(number);
    if (sigismember(&mask, number) == 1) state.blocked_signals.insert(number);
  }
  SetDisposition(SIGPIPE, SIG_IGN);
  SetDisposition(SIGXFSZ, SIG_IGN);
  SetDisposition(SIGCHLD, SIG_DFL);  // an inherited "ignore" would make wait() fail
  const sigset_t handled = HandledSignals();
  sigprocmask(SIG_BLOCK, &handled, nullptr);
  return state;
}

struct Job::State {
  pid_t pid = 0;
  int signals = -1;
  bool ended = false;
  int exit_code = 0;
  int term_signal = 0;
  int64_t stopped_ns = 0;
  SignalCompanion companion;

  ~State() {
    if (signals >= 0) close(signals);
  }
  bool TakeSignals();
  bool LookAtJob();
  void StopBeside(int signal);
};

Job::Job(std::unique_ptr<State> state) : state_(std::move(state)) {}
Job::~Job() = default;
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;

Result<Job> Job::Start(const InheritedState& inherited, const std::vector<std::string>& command,
                       const EnvironmentChanges& changes, const JobOptions& options) {
  if (command.empty()) return Error{ErrorCode::kUsage, "no command to run", "gpuwhy run -- COMMAND ARGUMENT..."};
  auto state = std::make_unique<State>();
  const sigset_t handled = HandledSignals();
  sigprocmask(SIG_BLOCK, &handled, nullptr);
  state->signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
  int report[2];
  if (state->signals < 0 || pipe2(report, O_CLOEXEC) != 0) return OwnFault("cannot supervise a job", errno);
  const std::vector<std::string> environment = ChangedEnvironment(changes);
  const std::vector<char*> argv = Pointers(command), envp = Pointers(environment);
  HideOwnDescriptors(inherited);
  HonourPendingSignals(inherited);
  state->companion.Start();
  state->pid = fork();
  if (state->pid == 0) Exec(inherited, argv.data(), envp.data(), report[1]);
  const int fork_errno = errno;
  close(report[1]);
  int exec_errno = 0;
  ssize_t got = 0;
  while (state->pid > 0 && (got = read(report[0], &exec_errno, sizeof exec_errno)) < 0 && errno == EINTR) {
  }
  close(report[0]);
  if (state->pid < 0) return OwnFault("cannot start a process", fork_errno);
  if (got == sizeof exec_errno) {
    while (waitpid(state->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return ExecError(command[0], exec_errno);
  }
  state->companion.Watch(state->pid);
  GiveUpDescriptors(inherited, options);
  return Job(std::move(state));
}

// Reads the queue. True when the job may have changed its state.
bool Job::State::TakeSignals() {
  bool child = false;
  signalfd_siginfo info;
  while (read(signals, &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) {
      child = true;
      continue;
    }
    // From the terminal (Ctrl-C, background read): the job is in the same group and has it too. Not so a hang-up, which
    // the kernel sends to the session leader alone (tty_signal_session_leader), and that may be gpuwhy.
    if (info.ssi_code == SI_KERNEL && number != SIGHUP) continue;
    const pid_t sender = static_cast<pid_t>(info.ssi_pid);
    // The job itself (kill(0, ...), kill(getppid(), ...)) means not itself by way of us; the companion only wakes us.
    if (sender == pid || (sender == companion.pid() && sender != 0)) continue;
    if (ended || companion.GotToo(number)) continue;
    kill(pid, number);
  }
  return child;
}

// Takes the news about the job. True when it was stopped and goes on.
bool Job::State::LookAtJob() {
  bool continued = false;
  for (siginfo_t info{}; !ended; info = {}) {
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WSTOPPED | WNOHANG) != 0) {
      if (errno == EINTR) continue;
      ended = true;  // somebody else took its status: cannot be
      exit_code = 125;
    } else if (info.si_pid == 0) {
      break;
    } else if (info.si_code == CLD_STOPPED) {
      StopBeside(info.si_status);
      continued = true;
    } else if (info.si_code == CLD_EXITED) {
      ended = true;
      exit_code = info.si_status;
    } else if (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) {
      ended = true;
      term_signal = info.si_status;
    }
  }
  return continued;
}

// Stops gpuwhy by the signal that stopped the job, so that the shell reports and continues both as one.
void Job::State::StopBeside(int signal) {
  const int64_t start_ns = MonotonicNs();
  companion.BeforeStop();
  if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    SetDisposition(signal, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    kill(getpid(), signal);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);  // stops here
    sigprocmask(SIG_BLOCK, &only, nullptr);
    sigaction(signal, &before, nullptr);
  } else {
    kill(getpid(), SIGSTOP);
  }
  companion.AfterStop();
  stopped_ns += MonotonicNs() - start_ns;
}

JobEvent Job::Wait(int64_t timeout_ns) {
  const int64_t deadline_ns = MonotonicNs() + std::max<int64_t>(timeout_ns, 0);
  for (;;) {
    state_->TakeSignals();
    const bool continued = state_->LookAtJob();
    if (state_->ended) return JobEvent::kEnded;
    if (continued) return JobEvent::kContinued;
    const int64_t left_ns = deadline_ns - MonotonicNs();
    if (left_ns <= 0) return JobEvent::kTimeout;
    const timespec left{static_cast<time_t>(left_ns / 1'000'000'000), static_cast<long>(left_ns % 1'000'000'000)};
    pollfd signals{state_->signals, POLLIN, 0};
    ppoll(&signals, 1, &left, nullptr);
  }
}

int64_t Job::pid() const { return state_->pid; }
bool Job::ended() const { return state_->ended; }

std::optional<int> Job::exit_code() const {
  if (!state_->ended || state_->term_signal != 0) return std::nullopt;
  return state_->exit_code;
}

std::optional<int> Job::term_signal() const {
  if (!state_->ended || state_->term_signal == 0) return std::nullopt;
  return state_->term_signal;
}

double Job::stopped_seconds() const { return static_cast<double>(state_->stopped_ns) / 1e9; }

void Job::Terminate() {
  if (!state_->ended) kill(state_->pid, SIGTERM);
}

void Job::ExitLikeJob() {
  const int signal = state_->term_signal;
  const int exit_code = state_->exit_code;
  state_.reset();
  if (signal == 0) std::exit(exit_code);
  fflush(nullptr);
  // The limit stops a core file, the flag a core handler (a pipe in core_pattern ignores a limit of 0: core(5)).
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
  if (Changeable(signal)) SetDisposition(signal, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  kill(getpid(), signal);
  _exit(128 + signal);  // the first process of a container is not killed by its own signal
}

int JobStartExitStatus(const Error& error) {
  if (error.code == ErrorCode::kNotFound) return 127;
  return error.code == ErrorCode::kPermission ? 126 : 125;
}

}  // namespace gpuwhy
