// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/signal_companion_linux.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace gpuwhy {
namespace {

constexpr int kNoticeWaitMs = 50;
constexpr int64_t kNoticeLifeNs = 200'000'000;
constexpr int kWatchPeriodMs = 50;
constexpr char kOrderWatch = 'W';  // followed by the pid
constexpr char kOrderStopping = 'S';
constexpr char kOrderRunning = 'R';

struct Link {
  pid_t parent;
  int orders;
  int notices;
  int signals;
  pid_t job = 0;
  bool watching = false;
};

// Everything below runs in the companion: async-signal-safe calls only, gpuwhy may have had threads when it forked.

void CloseRange(unsigned first, unsigned last) {
  if (first > last) return;
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
#endif
  const long limit = std::min(sysconf(_SC_OPEN_MAX), 65536L);  // kernels before 5.9
  for (unsigned fd = first; fd <= last && fd < static_cast<unsigned>(limit); ++fd) close(static_cast<int>(fd));
}

void CloseAllBut(int a, int b) {
  const unsigned low = static_cast<unsigned>(std::min(a, b)), high = static_cast<unsigned>(std::max(a, b));
  if (low > 0) CloseRange(0, low - 1);
  CloseRange(low + 1, high - 1);
  CloseRange(high + 1, ~0U);
}

// State letter of proc(5) "stat": T stopped, t stopped by a debugger. 0 when the process is gone.
char ProcessState(pid_t pid) {
  char path[32] = "/proc/";
  char digits[12];
  size_t count = 0;
  for (pid_t rest = pid; rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  size_t end = strlen(path);
  while (count > 0) path[end++] = digits[--count];
  memcpy(path + end, "/stat", 6);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[128];
  const ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* name_end = strrchr(text, ')');
  return name_end == nullptr || name_end[1] == '\0' ? static_cast<char>(0) : name_end[2];
}

void TellSignals(const Link& link) {
  signalfd_siginfo info;
  while (read(link.signals, &info, sizeof info) == sizeof info) {
    const unsigned char number = static_cast<unsigned char>(info.ssi_signo);
    if (write(link.notices, &number, 1) < 0 && errno == EPIPE) _exit(0);
  }
}

// False when gpuwhy is gone.
bool ObeyOrders(Link& link) {
  char order = 0;
  const ssize_t got = read(link.orders, &order, 1);
  if (got == 0) return false;
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (order == kOrderWatch && read(link.orders, &link.job, sizeof link.job) != sizeof link.job) return false;
  if (order == kOrderStopping) link.watching = true;
  if (order == kOrderRunning) link.watching = false;
  return true;
}

[[noreturn]] void CompanionMain(Link link) {
  prctl(PR_SET_NAME, "gpuwhy-signals");
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  CloseAllBut(link.orders, link.notices);
  link.signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (link.signals < 0) _exit(1);
  for (;;) {
    pollfd polls[2] = {{link.orders, POLLIN, 0}, {link.signals, POLLIN, 0}};
    poll(polls, 2, link.watching ? kWatchPeriodMs : -1);
    if (polls[1].revents != 0) TellSignals(link);
    if (polls[0].revents != 0 && !ObeyOrders(link)) _exit(0);
    if (!link.watching || getppid() != link.parent) continue;
    const char state = ProcessState(link.job);
    if (state != 'T' && state != 't' && ProcessState(link.parent) == 'T') kill(link.parent, SIGCONT);
  }
}

}  // namespace

SignalCompanion::~SignalCompanion() {
  if (orders_ >= 0) close(orders_);
  if (notices_ >= 0) close(notices_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void SignalCompanion::Start() {
  int orders[2], notices[2];
  if (pipe2(orders, O_CLOEXEC) != 0) return;
  if (pipe2(notices, O_CLOEXEC | O_NONBLOCK) != 0) {
    close(orders[0]);
    close(orders[1]);
    return;
  }
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) CompanionMain({self, orders[0], notices[1], -1});
  close(orders[0]);
  close(notices[1]);
  orders_ = orders[1];
  notices_ = notices[0];
  pid_ = std::max(child, 0);
  alive_ = child > 0;
}

void SignalCompanion::Order(const char* order, size_t size) {
  if (alive_ && write(orders_, order, size) < 0) alive_ = false;
}

void SignalCompanion::Watch(pid_t job) {
  char order[1 + sizeof job] = {kOrderWatch};
  memcpy(order + 1, &job, sizeof job);
  Order(order, sizeof order);
}

void SignalCompanion::BeforeStop() { Order(&kOrderStopping, 1); }

void SignalCompanion::AfterStop() { Order(&kOrderRunning, 1); }

void SignalCompanion::ReadNotices(int timeout_ms) {
  pollfd notice{notices_, POLLIN, 0};
  if (poll(&notice, 1, timeout_ms) <= 0) return;
  unsigned char numbers[64];
  const ssize_t got = read(notices_, numbers, sizeof numbers);
  if (got == 0) alive_ = false;  // it was killed: from now on every signal counts as sent to gpuwhy alone
  for (ssize_t i = 0; i < got; ++i) seen_ns_[numbers[i]] = MonotonicNs();
}

bool SignalCompanion::GotToo(int signal) {
  const int64_t start_ns = MonotonicNs();
  int left_ms = kNoticeWaitMs;
  while (alive_) {
    const auto seen = seen_ns_.find(signal);
    if (seen != seen_ns_.end() && start_ns - seen->second < kNoticeLifeNs) {
      seen_ns_.erase(seen);
      return true;
    }
    if (left_ms <= 0) return false;
    ReadNotices(left_ms);
    left_ms = kNoticeWaitMs - static_cast<int>((MonotonicNs() - start_ns) / 1'000'000);
  }
  return false;
}

}  // namespace gpuwhy
