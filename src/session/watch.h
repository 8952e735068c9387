// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_WATCH_H_
#define GPUWHY_SESSION_WATCH_H_

#include <memory>
#include <vector>

#include "witness/witness.h"

namespace gpuwhy {

// All witnesses over one subject, each at its own period, in one thread.
class Watch {
 public:
  // Starts the witnesses: with a job all of them, without one (context.job_pid 0) those that make sense for a machine.
  Watch(WitnessContext context, EvidenceSink& sink);

  // Polls the witnesses that are due. Cheap when none is.
  void Tick();
  // CLOCK_MONOTONIC of the next Tick that has something to do.
  int64_t NextTickNs() const;
  // Last readings; no Tick may follow.
  void Stop();
  double Now() const;

 private:
  struct Member {
    const WitnessInfo* info;
    std::unique_ptr<Witness> witness;
    int64_t due_ns;
  };
  void ShareProcesses();

  WitnessContext context_;
  EvidenceSink& sink_;
  std::vector<Member> members_;
  std::vector<int64_t> processes_;
};

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_WATCH_H_
