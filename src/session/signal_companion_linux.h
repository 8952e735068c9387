// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_SIGNAL_COMPANION_LINUX_H_
#define GPUWHY_SESSION_SIGNAL_COMPANION_LINUX_H_

#include <sys/types.h>

#include <cstdint>
#include <map>

namespace gpuwhy {

// A process of ours in the process group of the job that does nothing but sleep. Two facts can only be had this way:
// - A signal that reaches gpuwhy and the companion was sent to the whole group (kill %1, timeout, a batch system): the
// job
//   has it already and must not get it twice. One that reaches gpuwhy alone is meant for the job (docker stop, Popen).
// - While gpuwhy is stopped beside a stopped job, somebody may continue the job alone: the companion then wakes gpuwhy.
// It holds no descriptor of the job, and ends with gpuwhy. Without one (no process left) signals are always passed on.
class SignalCompanion {
 public:
  SignalCompanion() = default;
  ~SignalCompanion();
  SignalCompanion(const SignalCompanion&) = delete;
  SignalCompanion& operator=(const SignalCompanion&) = delete;

  void Start();
  // Tells whom to look at while gpuwhy is stopped.
  void Watch(pid_t job);
  void BeforeStop();
  void AfterStop();

  // True when the companion got this signal too, less than 0.2 s ago. Waits for its word at most 50 ms.
  bool GotToo(int signal);
  pid_t pid() const { return pid_; }

 private:
  void ReadNotices(int timeout_ms);
  void Order(const char* order, size_t size);

  pid_t pid_ = 0;
  bool alive_ = false;
  int orders_ = -1;   // to the companion; closing it ends the companion
  int notices_ = -1;  // from the companion: one byte a signal
  std::map<int, int64_t> seen_ns_;
};

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_SIGNAL_COMPANION_LINUX_H_
