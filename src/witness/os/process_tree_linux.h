// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_PROCESS_TREE_LINUX_H_
#define GPUWHY_WITNESS_OS_PROCESS_TREE_LINUX_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "witness/os/proc_linux.h"

namespace gpuwhy::os {

// One process of the job. Those that ended stay for a while.
struct TreeProcess {
  int64_t pid = 0;
  ProcStat stat;  // last reading
  bool alive = true;
  bool in_tree = true;     // its parent was one of us at last sight: its CPU time goes to that parent when it ends
  size_t next_thread = 0;  // for the rotation over threads
  std::string hidden;      // why nothing can be read of it, "" = readable
};

// The processes of a job: its root, their children, and those told by others. A process that was seen once stays, even
// if its parent ends and another one adopts it (double fork). What is missed: a child that ends, or loses its parent,
// between two polls without having been seen.
class ProcessTree {
 public:
  // `use_children_files` false: find children by the parents in /proc/*/stat, as on kernels without
  // CONFIG_PROC_CHILDREN.
  explicit ProcessTree(int64_t root, bool use_children_files = true)
      : root_(root), use_children_files_(use_children_files) {}

  void Update(const std::vector<int64_t>& told);

  int64_t root() const { return root_; }
  const std::vector<TreeProcess>& processes() const { return processes_; }  // in order of discovery
  size_t alive() const { return alive_; }
  size_t seen() const { return seen_; }
  // CPU time of everything that ever was in the tree, in clock ticks; never falls.
  uint64_t total_ticks() const { return total_ticks_; }
  // Ended in the last Update.
  const std::vector<int64_t>& ended() const { return ended_; }

 private:
  void Add(int64_t pid, bool told);
  void Refresh();
  void ForgetEnded();
  void FindByChildrenFiles();
  void FindByParents();
  void SumTicks();

  int64_t root_;
  bool use_children_files_;
  std::vector<TreeProcess> processes_;
  std::map<int64_t, size_t> live_;  // PID -> position
  std::vector<int64_t> ended_;
  size_t alive_ = 0, seen_ = 0;
  size_t rotation_ = 0;
  uint64_t total_ticks_ = 0;
  uint64_t lost_ticks_ = 0;  // of ended processes that no living one of us accounts for
};

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_PROCESS_TREE_LINUX_H_
