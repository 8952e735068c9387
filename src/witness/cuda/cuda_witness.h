// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_CUDA_CUDA_WITNESS_H_
#define GPUWHY_WITNESS_CUDA_CUDA_WITNESS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "wire/ring_spool.h"
#include "witness/cuda/cuda_process.h"
#include "witness/cuda/window_policy.h"
#include "witness/witness.h"

namespace gpuwhy::cuda {

// Reads the rings of the CUDA library and decides when it opens a window. Steps and the start of the job's own profiler
// are looked up in the rings of the Python agents, which belong to another witness and are only observed here.
class CudaWitness : public Witness {
 public:
  void Start(const WitnessContext& context, EvidenceSink& sink) override;
  void Poll(double time_s, EvidenceSink& sink) override;
  void Stop(double time_s, EvidenceSink& sink) override;
  std::vector<int64_t> KnownProcesses() const override;

 private:
  struct Job {
    wire::OwnedRing ring;
    std::unique_ptr<CudaProcess> process;
    WindowPolicy policy;
    bool asked_permanent = false;
    bool told_why = false;
  };
  // What the Python agent of a process tells about it.
  struct Python {
    std::optional<uint64_t> steps;
    bool user_profiler = false;
  };

  void Scan(EvidenceSink& sink);
  void ObservePython();
  void Read(Job& job, bool writer_gone, EvidenceSink& sink);
  void Steer(Job& job, EvidenceSink& sink);
  void Send(Job& job, const WindowOrder& order);
  // Asks libraries that are still at work to leave, and waits a moment for it.
  void LetGo(EvidenceSink& sink);
  void Close(Job& job, double time_s, EvidenceSink& sink);

  WitnessContext context_;
  wire::RingSpool cuda_rings_{"-cu.ring", wire::RingReader::Mode::kDrain};
  wire::RingSpool python_rings_{"-py.ring", wire::RingReader::Mode::kObserve};
  std::vector<Job> jobs_;
  std::vector<wire::OwnedRing> observed_;
  std::map<int64_t, Python> python_;
  std::set<int64_t> pids_;
  WindowBudget budget_;
};

}  // namespace gpuwhy::cuda

#endif  // GPUWHY_WITNESS_CUDA_CUDA_WITNESS_H_
