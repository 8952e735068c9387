// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_INJECTOR_H_
#define GPUWHY_INJECT_INJECTOR_H_

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include <atomic>

#include "inject/cupti_api.h"
#include "inject/environment.h"
#include "inject/report.h"
#include "inject/ring.h"
#include "inject/tracer.h"

namespace gpuwhy::inject {

// The life of this library in one process. One global object, never destroyed: CUPTI's threads may outlive exit().
class Injector {
 public:
  void Initialize();
  // 0: CUPTI is free for another user, and this library never takes it again. 1: not free within timeout_ms.
  int CloseForEver(int timeout_ms);
  int State() const;

  // Job threads, from CUPTI's callbacks.
  void OnContext();
  Tracer& tracer() { return tracer_; }
  bool silent() const { return silent_.load(std::memory_order_acquire); }

  void RunHelper();
  void AtExit();
  void AfterForkInChild() { silent_.store(true, std::memory_order_release); }

 private:
  bool StepAside(TraceMode mode);
  void WriteFacts();
  void StartHelper();
  bool Tick();
  void TakeCommand();
  void OpenFirst();
  void LoseLease();

  Ring ring_;
  Reporter reporter_;
  CuptiFound found_;
  Tracer tracer_;
  pthread_mutex_t control_ = PTHREAD_MUTEX_INITIALIZER;  // never waited for on a job thread inside a CUDA call
  pid_t pid_ = 0;
  bool permanent_ = false;
  bool first_done_ = false;  // control_
  bool lost_ = false;        // control_
  uint32_t seen_ = 0;        // control_: last command taken
  std::atomic<bool> initialized_{false};
  std::atomic<bool> active_{false};
  std::atomic<bool> silent_{false};
  std::atomic<bool> never_again_{false};
  std::atomic<bool> context_seen_{false};
  std::atomic<bool> helper_runs_{false};
  std::atomic<bool> exiting_{false};
  std::atomic<bool> exit_done_{false};
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_INJECTOR_H_
