// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_PROCESS_FACTS_LINUX_H_
#define GPUWHY_WITNESS_OS_PROCESS_FACTS_LINUX_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_root.h"
#include "model/evidence.h"
#include "witness/os/process_tree_linux.h"

namespace gpuwhy::os {

// True for an environment variable whose value decides whether and how a job uses a GPU. Nothing else is ever stored.
bool IsRelevantVariable(std::string_view name);

// Facts and samples of one process (process.*). Facts are pushed when they change, samples at every reading.
class ProcessFacts {
 public:
  ProcessFacts(HostRoot root, int64_t pid) : root_(std::move(root)), pid_(pid) {}

  // Cheap readings, every poll: CPU time, memory, threads, state; what the program is, whenever exec changed it.
  void ReadLight(const TreeProcess& process, bool block_io_accounted, double time_s, EvidenceSink& sink);
  // Whether mapped libraries or descriptors are due. Both cost up to a millisecond for a large process: they are read
  // often at first, when libraries come, and rarely once libcuda and a framework were seen.
  bool HeavyDue(double time_s) const { return time_s >= next_heavy_s_; }
  void ReadHeavy(double time_s, EvidenceSink& sink);
  void Ended(double time_s, EvidenceSink& sink);

 private:
  void Push(std::string name, Value value, double time_s, EvidenceSink& sink);
  void Push(std::string name, Scalar value, double time_s, EvidenceSink& sink) {
    Push(std::move(name), Value::Of(std::move(value)), time_s, sink);
  }
  void ReadProgram(const ProcStat& stat, double time_s, EvidenceSink& sink);
  void ReadEnvironment(double time_s, EvidenceSink& sink);
  void ReadMaps(double time_s, EvidenceSink& sink);
  void ReadDevices(double time_s, EvidenceSink& sink);
  void Sample(const char* metric, double value, double time_s, EvidenceSink& sink);

  HostRoot root_;
  int64_t pid_;
  std::map<std::string, Value> last_;
  uint64_t program_ = 0;
  std::string name_;
  bool program_known_ = false;
  bool libcuda_ = false, framework_ = false, device_open_ = false;  // once seen, seen for ever
  double next_heavy_s_ = 0;
  double heavy_step_s_ = 1;
};

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_PROCESS_FACTS_LINUX_H_
