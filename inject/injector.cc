// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/injector.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "inject/old_glibc.h"

namespace gpuwhy::inject {

Injector* TheInjector();

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kExitPatienceNs = 200 * kMs;
constexpr uint64_t kAsideRecords = 1024;  // a ring that only says why it stays empty

void NapMs(long ms) {
  const timespec nap{0, ms * 1'000'000};
  nanosleep(&nap, nullptr);
}

void* HelperMain(void* injector) {
  prctl(PR_SET_NAME, "gpuwhy", 0, 0, 0);
  static_cast<Injector*>(injector)->RunHelper();
  return nullptr;
}

void ExitHandler() { TheInjector()->AtExit(); }
void ChildHandler() { TheInjector()->AfterForkInChild(); }

bool SwitchedOff() {
  const char* disable = getenv("GPUWHY_DISABLE");
  return disable != nullptr && *disable != 0 && strcmp(disable, "0") != 0;
}

}  // namespace

void Injector::Initialize() {
  if (initialized_.exchange(true) || SwitchedOff()) return;
  const char* spool = getenv("GPUWHY_SPOOL");
  if (spool == nullptr || *spool == 0) return;
  pid_ = getpid();
  const TraceMode mode = TraceModeFromEnvironment();
  if (StepAside(mode)) return;
  permanent_ = mode == TraceMode::kPermanent;
  if (!ring_.Create(spool, wire::kDefaultCapacity)) return;
  reporter_.Start(&ring_);
  FindCupti(&found_);
  WriteFacts();
  if (!found_.ok()) {
    ring_.SetState(wire::State::kFailed);
    ring_.SetClosed();
    return;
  }
  tracer_.Start(&ring_, &reporter_, &found_);
  pthread_atfork(nullptr, nullptr, &ChildHandler);
  atexit(&ExitHandler);
  active_.store(true, std::memory_order_release);
  if (!tracer_.WaitForContext()) {
    active_.store(false, std::memory_order_release);
    ring_.SetClosed();
  }
}

// True if this process must not be traced; the ring then says why.
bool Injector::StepAside(TraceMode mode) {
  const OtherTool tool = FindOtherTool();
  if (mode != TraceMode::kOff && tool.name.size() == 0) return false;
  if (!ring_.Create(getenv("GPUWHY_SPOOL"), kAsideRecords)) return true;
  reporter_.Start(&ring_);
  if (mode == TraceMode::kOff) {
    reporter_.Fact("cuda.state", "off");
    reporter_.Gap("GPU work of this process", "GPUWHY_TRACE=off switches CUPTI off", "unset GPUWHY_TRACE");
  } else {
    reporter_.Fact("cuda.state", "stepped_aside");
    reporter_.Fact("cuda.other_subscriber", tool.name.c_str());
    Text<400> why;
    why.Add(tool.name.c_str()).Add(" is set up for this process (").Add(tool.sign.c_str()).Add(")");
    reporter_.Gap("GPU work of this process", why.c_str(),
                  "run without that tool, or read its own trace with: gpuwhy explain FILE");
  }
  ring_.SetState(wire::State::kSteppedAside);
  ring_.SetClosed();
  return true;
}

void Injector::WriteFacts() {
  if (found_.driver_cuda_version != 0)
    reporter_.Fact("cuda.driver.version", static_cast<uint64_t>(found_.driver_cuda_version));
  if (found_.ok()) {
    reporter_.Fact("cuda.cupti.path", found_.path.c_str());
    reporter_.Fact("cuda.cupti.version", uint64_t{found_.version});
    reporter_.Fact("cuda.cupti.cuda_version", static_cast<uint64_t>(found_.cuda_version));
    reporter_.Fact("cuda.cupti.was_mapped", uint64_t{found_.was_mapped ? 1U : 0U});
    return;
  }
  reporter_.Fact("cuda.state", "no_cupti");
  const Text<160> package = CuptiPackage(found_.driver_cuda_version);
  reporter_.Gap("GPU work of this process", found_.problem.c_str(), package.c_str());
}

// On the thread that creates the first context, in the middle of the driver: nothing here may wait.
void Injector::OnContext() {
  if (context_seen_.exchange(true)) return;
  const uint64_t begin = MonotonicNs();
  tracer_.OnContextCreated();
  if (pthread_mutex_trylock(&control_) == 0) {
    if (ring_.LeaseHeld(begin)) {
      OpenFirst();
    } else {
      LoseLease();
    }
    pthread_mutex_unlock(&control_);
  }
  if (!never_again_.load(std::memory_order_acquire)) StartHelper();
  tracer_.AddCost(MonotonicNs() - begin);
}

void Injector::OpenFirst() {
  if (first_done_) return;
  first_done_ = true;
  const Command pending = ring_.ReadCommand();
  if (pending.seq != seen_ && pending.kind == wire::Command::kClose) TakeCommand();
  if (never_again_.load(std::memory_order_acquire)) return;
  tracer_.Open(permanent_ ? wire::WindowMode::kPermanent : wire::WindowMode::kProof, WindowLimits{});
}

void Injector::StartHelper() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
  pthread_t thread{};
  helper_runs_.store(true, std::memory_order_release);
  if (pthread_create(&thread, nullptr, &HelperMain, this) == 0) {
    pthread_detach(thread);
  } else {
    helper_runs_.store(false, std::memory_order_release);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Injector::RunHelper() {
  bool go_on = true;
  while (go_on && !silent()) {
    pthread_mutex_lock(&control_);
    go_on = Tick();
    const uint64_t interval = tracer_.PollIntervalNs();
    const uint32_t seen = seen_;
    pthread_mutex_unlock(&control_);
    if (go_on && !exiting_.load(std::memory_order_acquire)) ring_.WaitForCommand(seen, interval);
  }
  helper_runs_.store(false, std::memory_order_release);
}

// One turn of the helper thread; false ends it.
bool Injector::Tick() {
  if (exiting_.load(std::memory_order_acquire)) {
    tracer_.CloseAtExit();
    tracer_.WriteEnd();
    exit_done_.store(true, std::memory_order_release);
    return false;
  }
  const uint64_t now = MonotonicNs();
  if (!lost_ && !ring_.LeaseHeld(now)) LoseLease();
  if (!lost_) {
    OpenFirst();
    TakeCommand();
    tracer_.Poll(now);
  }
  const bool end_due = tracer_.SettleEnd(now);
  return end_due || !never_again_.load(std::memory_order_acquire);
}

void Injector::LoseLease() {
  lost_ = true;
  never_again_.store(true, std::memory_order_release);
  tracer_.SetFinalState(wire::State::kLeaseLost);
  tracer_.Leave();
}

void Injector::TakeCommand() {
  const Command command = ring_.ReadCommand();
  if (command.seq == seen_) return;
  seen_ = command.seq;
  const bool may_open = !never_again_.load(std::memory_order_acquire);
  const WindowLimits limits{command.ms, command.records};
  switch (command.kind) {
    case wire::Command::kTimingWindow:
    case wire::Command::kSyncWindow:
    case wire::Command::kPermanent: {
      if (!may_open) break;
      tracer_.Close();
      const bool timing = command.kind == wire::Command::kTimingWindow;
      const auto other =
          command.kind == wire::Command::kSyncWindow ? wire::WindowMode::kSync : wire::WindowMode::kPermanent;
      tracer_.Open(timing ? wire::WindowMode::kTiming : other, limits);
      break;
    }
    case wire::Command::kNone:  // ends a window early; later ones may follow
      tracer_.Close();
      break;
    case wire::Command::kClose:
      never_again_.store(true, std::memory_order_release);
      tracer_.Leave();
      break;
    default:  // a command of the Python agent
      break;
  }
  ring_.Acknowledge(command.seq);
}

int Injector::CloseForEver(int timeout_ms) {
  if (!active_.load(std::memory_order_acquire) || silent()) return 0;
  never_again_.store(true, std::memory_order_release);
  const uint64_t deadline = MonotonicNs() + static_cast<uint64_t>(timeout_ms > 0 ? timeout_ms : 0) * kMs;
  while (pthread_mutex_trylock(&control_) != 0) {
    if (MonotonicNs() > deadline) return 1;
    NapMs(1);
  }
  tracer_.Leave();
  // Any API call ends the attachment; this one is harmless, and it makes the exit happen on this thread.
  void* context = nullptr;
  if (tracer_.detaching() && found_.driver.CtxGetCurrent != nullptr) found_.driver.CtxGetCurrent(&context);
  while (tracer_.attached() && MonotonicNs() < deadline) NapMs(1);
  if (tracer_.attached()) tracer_.AbandonSubscription();
  tracer_.WriteEnd();
  const bool is_free = !tracer_.attached();
  pthread_mutex_unlock(&control_);
  ring_.Wake();
  return is_free ? 0 : 1;
}

int Injector::State() const { return ring_.ok() ? static_cast<int>(ring_.state()) : -1; }

// Runs in exit(), before the driver and CUPTI take themselves down. The flush is the helper's work: if it hangs, the
// exit goes on after 200 ms.
void Injector::AtExit() {
  if (silent() || !active_.load(std::memory_order_acquire) || getpid() != pid_) return;
  exiting_.store(true, std::memory_order_release);
  const uint64_t deadline = MonotonicNs() + kExitPatienceNs;
  while (helper_runs_.load(std::memory_order_acquire) && !exit_done_.load(std::memory_order_acquire) &&
         MonotonicNs() < deadline) {
    ring_.Wake();
    NapMs(1);
  }
  silent_.store(true, std::memory_order_release);
  ring_.SetClosed();
}

}  // namespace gpuwhy::inject
