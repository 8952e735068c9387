// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_PROCESSES_H_
#define GPUWHY_WITNESS_NVML_NVML_PROCESSES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "witness/nvml/nvml_channel.h"
#include "witness/nvml/nvml_facts.h"

namespace gpuwhy::nvml {

// Who uses one GPU as the driver sees it: the lists of processes, and the samples that name the process at work. A list
// entry is not proof of work, and on Windows not even of CUDA.
class ProcessWatch {
 public:
  ProcessWatch(const Library& library, const Device& device);

  // `job` are the PIDs of the job; `idle` says that the device reported no activity at all just now.
  Return Poll(double time_s, const std::set<int64_t>& job, bool idle, EvidenceSink& sink);
  // PIDs of the newest lists.
  const std::set<int64_t>& listed() const { return listed_; }
  // Utilisation entries thrown away because they could not be true.
  int64_t discarded() const { return discarded_; }

 private:
  enum Kind : unsigned { kCompute = 1, kGraphics = 2, kMps = 4 };
  struct Known {
    Known(int64_t pid, const std::string& gpu);
    Channel memory;
    Channel sm;
    unsigned kinds = 0;
    std::optional<uint64_t> bytes;
    double memory_time_s = -1e9, sm_time_s = -1e9;
    bool listed = false;
  };
  struct Entry {
    unsigned kinds = 0;
    std::map<uint64_t, uint64_t> bytes;  // of each MIG slice
  };
  struct Use {
    double sum = 0;
    unsigned count = 0;
  };

  Return ReadLists(std::map<int64_t, Entry>* out);
  Return ReadList(Api::GetProcesses* function, Kind kind, std::map<int64_t, Entry>* out);
  void AddEntries(unsigned count, Kind kind, std::map<int64_t, Entry>* out) const;
  void PutListed(double time_s, const std::map<int64_t, Entry>& entries, const std::set<int64_t>& job,
                 EvidenceSink& sink);
  void PutEntry(double time_s, int64_t pid, const Entry& entry, bool in_job, EvidenceSink& sink);
  void PutGone(double time_s, const std::map<int64_t, Entry>& entries, EvidenceSink& sink);

  Return PollUse(double time_s, const std::set<int64_t>& job, bool idle, EvidenceSink& sink);
  Return ReadUseModern();
  Return ReadUseOld();
  void Accept(const std::set<int64_t>& job, std::map<int64_t, Use>* out);
  void PutUse(double time_s, const std::map<int64_t, Use>& uses, const std::set<int64_t>& job, EvidenceSink& sink);
  Known& Of(int64_t pid);

  const Api& api_;
  const Device& device_;
  const ProcessLayout layout_;
  std::vector<unsigned char> lists_;
  std::vector<ProcessUtilizationV1> uses_;
  std::vector<ProcessUtilization> old_uses_;
  size_t use_count_ = 0;
  bool modern_works_ = true;
  unsigned long long last_seen_us_;
  std::map<int64_t, Known> known_;
  std::set<int64_t> listed_;
  Channel list_state_;  // gpu.processes.count
  Channel use_state_;   // carries the reason when the driver gives no per-process use
  int64_t discarded_ = 0;
};

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_PROCESSES_H_
