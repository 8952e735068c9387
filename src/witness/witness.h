// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_WITNESS_H_
#define GPUWHY_WITNESS_WITNESS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_root.h"
#include "model/evidence.h"

namespace gpuwhy {

// What a witness may look at. One value for the life of a session.
struct WitnessContext {
  HostRoot root;
  std::string nvml_library;      // from GPUWHY_NVML; empty = search
  std::string spool;             // folder with the rings of the job; empty when nothing is injected
  int64_t job_pid = 0;           // root of the process tree under watch; 0 = the machine alone (snapshot, doctor)
  int64_t session_start_ns = 0;  // CLOCK_MONOTONIC: evidence times count from here
  std::string trace = "window";  // window, permanent, off
  // One look that must be quick: what takes the driver milliseconds and says nothing in a single reading is not asked.
  bool brief = false;
};

// A live source. It pushes what it sees and holds no opinion. All calls come from one thread. Trouble becomes a Gap or
// a fact with a state, never an exit.
class Witness {
 public:
  virtual ~Witness() = default;
  // Once, before the job runs (run) or at once (snapshot, doctor): facts that do not change.
  virtual void Start(const WitnessContext& context, EvidenceSink& sink) = 0;
  // At the witness' own period.
  virtual void Poll(double time_s, EvidenceSink& sink) = 0;
  // Once, after the job ended or watching stopped: last readings, gaps.
  virtual void Stop(double time_s, EvidenceSink& sink) = 0;
  // PIDs of the job as known now (the os witness tells, others follow). Default: ignore.
  virtual void JobProcesses(const std::vector<int64_t>&) {}
  virtual std::vector<int64_t> KnownProcesses() const { return {}; }
};

// The constant of a witness folder: `extern const WitnessInfo kWitness_<folder>`.
struct WitnessInfo {
  std::string_view name;
  double period_s;  // of Poll
  bool live_only;   // true: makes sense only while a job runs
  std::unique_ptr<Witness> (*create)();
};

// All witnesses, sorted by folder name (generated from the folder).
std::span<const WitnessInfo* const> AllWitnesses();

}  // namespace gpuwhy

#endif  // GPUWHY_WITNESS_WITNESS_H_
