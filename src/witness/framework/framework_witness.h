// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_FRAMEWORK_FRAMEWORK_WITNESS_H_
#define GPUWHY_WITNESS_FRAMEWORK_FRAMEWORK_WITNESS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "wire/ring_spool.h"
#include "witness/framework/python_process.h"
#include "witness/witness.h"

namespace gpuwhy::framework {

// Reads the rings of the Python agents in the spool. Windows of the CUDA library are looked up in its own rings, which
// belong to another witness and are only observed here.
class FrameworkWitness : public Witness {
 public:
  void Start(const WitnessContext& context, EvidenceSink& sink) override;
  void Poll(double time_s, EvidenceSink& sink) override;
  void Stop(double time_s, EvidenceSink& sink) override;
  std::vector<int64_t> KnownProcesses() const override;

 private:
  struct Job {
    wire::OwnedRing ring;
    std::unique_ptr<PythonProcess> process;
    bool asked_host_samples = false;  // for the timing window that is open now
    bool asked_profile = false;
    uint32_t asked_seq = 0;
    double next_totals_s = 0;
  };

  void Scan(EvidenceSink& sink);
  void ObserveWindows();
  void Command(Job& job, uint64_t now_ns);
  // Drains a ring whose writer is gone, or at the end of watching, and lets it go.
  void Close(Job& job, double time_s, EvidenceSink& sink);
  double Now() const;

  WitnessContext context_;
  wire::RingSpool python_rings_{"-py.ring", wire::RingReader::Mode::kDrain};
  wire::RingSpool cuda_rings_{"-cu.ring", wire::RingReader::Mode::kObserve};
  std::vector<Job> jobs_;
  std::vector<wire::OwnedRing> observed_;
  std::map<int64_t, std::vector<wire::Window>> early_windows_;  // of processes whose own ring is not there yet
  std::set<int64_t> pids_;
};

}  // namespace gpuwhy::framework

#endif  // GPUWHY_WITNESS_FRAMEWORK_FRAMEWORK_WITNESS_H_
