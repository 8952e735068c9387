// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_FAKES_RING_JOB_H_
#define GPUWHY_TESTS_FAKES_RING_JOB_H_

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "model/evidence.h"
#include "tests/fakes/ring_writer.h"
#include "witness/witness.h"

namespace gpuwhy::fakes {

// A process that does nothing but be there, so that rings in its name have a living owner.
class IdleProcess {
 public:
  IdleProcess() : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) pause();
  }
  ~IdleProcess() { Kill(); }
  IdleProcess(const IdleProcess&) = delete;
  IdleProcess& operator=(const IdleProcess&) = delete;
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  pid_t pid_;
};

// One witness over a spool of rings that the test writes. The session began 100 s ago: what is written in the past is
// old enough to be decided at once.
class RingJob {
 public:
  static constexpr uint64_t kSecond = 1'000'000'000;

  explicit RingJob(std::string_view witness) : start_ns_(NowNs() - 100 * kSecond) {
    for (const WitnessInfo* info : AllWitnesses()) {
      if (info->name == witness) witness_ = info->create();
    }
    context_.spool = folder_.path();
    context_.job_pid = getpid();
    context_.session_start_ns = static_cast<int64_t>(start_ns_);
  }
  void Start() { witness_->Start(context_, evidence); }
  void Poll() { witness_->Poll(Now(), evidence); }
  void Stop() { witness_->Stop(Now(), evidence); }
  Witness& witness() { return *witness_; }
  WitnessContext& context() { return context_; }
  const std::string& folder() const { return folder_.path(); }
  // CLOCK_MONOTONIC at a time of the session in milliseconds.
  uint64_t At(uint64_t ms) const { return start_ns_ + ms * 1'000'000; }
  double Now() const { return static_cast<double>(NowNs() - start_ns_) / 1e9; }

  std::optional<double> Fact(const std::string& name, int64_t pid = getpid()) const {
    const gpuwhy::Fact* fact = evidence.Find(name, Entity::Process(pid));
    return fact != nullptr ? fact->value.AsDouble() : std::nullopt;
  }
  // Why there is a gap about `what`; "" when there is none.
  std::string WhyGap(const std::string& what) const {
    for (const Gap& gap : evidence.gaps()) {
      if (gap.what.find(what) != std::string::npos) return gap.why;
    }
    return "";
  }
  size_t Spans(SpanKind kind) const {
    size_t count = 0;
    for (const Span& span : evidence.spans()) count += span.kind == kind ? 1 : 0;
    return count;
  }

  Evidence evidence;

 private:
  TempFolder folder_;
  uint64_t start_ns_;
  WitnessContext context_;
  std::unique_ptr<Witness> witness_;
};

inline wire::Window WindowAt(uint64_t time_ns, wire::WindowAction action, wire::WindowMode mode, uint32_t id = 1,
                             uint64_t cost_ns = 0) {
  wire::Window window{};
  window.time_ns = time_ns;
  window.id = id;
  window.action = static_cast<uint16_t>(action);
  window.mode = static_cast<uint16_t>(mode);
  window.cost_ns = cost_ns;
  return window;
}

inline wire::Profiler ProfilerStart() {
  wire::Profiler record{};
  record.action = static_cast<uint32_t>(wire::ProfilerAction::kStart);
  return record;
}

}  // namespace gpuwhy::fakes

#endif  // GPUWHY_TESTS_FAKES_RING_JOB_H_
