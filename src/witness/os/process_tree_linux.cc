// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/process_tree_linux.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"

namespace gpuwhy::os {
namespace {

// A poll looks at the children of so many threads besides the main ones: a job of 20 processes with 100 threads each
// would else cost 2000 files a second, while processes are nearly always started by main threads.
constexpr size_t kThreadsPerPoll = 16;
// Beyond so many processes, those at the end are read in turns.
constexpr size_t kStatsPerPoll = 96;
// A job that starts a compiler a thousand times must not make every poll slower.
constexpr size_t kMaxEnded = 256;

// A process that exists but that /proc does not show: mounted with hidepid, which hides other users' processes.
bool HiddenButAlive(int64_t pid) { return kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM; }

}  // namespace

void ProcessTree::Add(int64_t pid, bool told) {
  if (pid <= 0 || live_.count(pid) != 0) return;
  TreeProcess process;
  process.pid = pid;
  process.in_tree = !told;
  Result<ProcStat> stat = ReadStat(pid);
  if (stat) {
    process.stat = std::move(*stat);
  } else if (!told || !HiddenButAlive(pid)) {
    return;
  } else {
    process.hidden = Format("{} (is /proc mounted with hidepid?)", stat.error().message);
    process.stat.state = '?';
  }
  live_[pid] = processes_.size();
  processes_.push_back(std::move(process));
  ++alive_;
  ++seen_;
}

void ProcessTree::Refresh() {
  ended_.clear();
  const size_t count = live_.size();
  size_t position = 0;
  for (auto it = live_.begin(); it != live_.end();) {
    TreeProcess& process = processes_[it->second];
    const size_t turn = position++;
    const bool due =
        count <= kStatsPerPoll || process.pid == root_ || (turn + rotation_) % (count / kStatsPerPoll + 1) == 0;
    if (!due) {
      ++it;
      continue;
    }
    Result<ProcStat> stat = ReadStat(process.pid);
    const bool same = stat && (!process.hidden.empty() || stat->start == process.stat.start);
    if (same) {
      process.stat = std::move(*stat);
      process.hidden.clear();
      process.in_tree = process.pid == root_ || live_.count(process.stat.parent) != 0;
    } else if (!stat && !process.hidden.empty() && HiddenButAlive(process.pid)) {
      // Still there, still hidden.
    } else {
      process.alive = false;
      if (!process.in_tree || process.pid == root_) lost_ticks_ += process.stat.total_ticks();
      ended_.push_back(process.pid);
      it = live_.erase(it);
      --alive_;
      continue;
    }
    ++it;
  }
  ++rotation_;
}

void ProcessTree::FindByChildrenFiles() {
  size_t budget = kThreadsPerPoll;
  for (size_t i = 0; i < processes_.size(); ++i) {  // grows while we walk: grandchildren are found in the same poll
    if (!processes_[i].alive || !processes_[i].hidden.empty()) continue;
    const int64_t pid = processes_[i].pid;
    const std::optional<std::vector<int64_t>> children = ThreadChildren(pid, pid);
    if (!children) {
      // Ended right now, or a kernel without these files: then nothing of the tree answers.
      if (pid == root_ && processes_[i].stat.state != 'Z' && ReadStat(pid).has_value()) use_children_files_ = false;
      continue;
    }
    for (const int64_t child : *children) Add(child, false);
    if (processes_[i].stat.threads <= 1 || budget == 0) continue;
    const std::vector<int64_t> threads = Threads(pid);
    const size_t now = std::min(budget, threads.size());
    for (size_t n = 0; n < now; ++n) {
      const int64_t thread = threads[processes_[i].next_thread++ % threads.size()];
      if (thread == pid) continue;
      const std::optional<std::vector<int64_t>> more = ThreadChildren(pid, thread);
      if (!more) continue;
      for (const int64_t child : *more) Add(child, false);
    }
    budget -= now;
  }
}

void ProcessTree::FindByParents() {
  std::vector<std::pair<int64_t, int64_t>> unknown;  // PID, parent
  for (const int64_t pid : AllPids()) {
    if (live_.count(pid) != 0) continue;
    const Result<ProcStat> stat = ReadStat(pid);
    if (stat) unknown.emplace_back(pid, stat->parent);
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [pid, parent] : unknown) {
      if (live_.count(parent) == 0 || live_.count(pid) != 0) continue;
      Add(pid, false);
      grown = grown || live_.count(pid) != 0;
    }
  }
}

void ProcessTree::SumTicks() {
  // A parent's children_* hold what its ended and awaited children used, theirs included: the sum counts everything
  // once.
  uint64_t sum = lost_ticks_;
  for (const auto& [pid, position] : live_) sum += processes_[position].stat.total_ticks();
  total_ticks_ = std::max(total_ticks_, sum);
}

void ProcessTree::ForgetEnded() {
  if (processes_.size() - alive_ < kMaxEnded) return;
  processes_.erase(std::remove_if(processes_.begin(), processes_.end(), [](const TreeProcess& p) { return !p.alive; }),
                   processes_.end());
  for (size_t i = 0; i < processes_.size(); ++i) live_[processes_[i].pid] = i;
}

void ProcessTree::Update(const std::vector<int64_t>& told) {
  ForgetEnded();
  Refresh();
  if (seen_ == 0) Add(root_, true);
  for (const int64_t pid : told) Add(pid, true);
  if (use_children_files_) FindByChildrenFiles();
  if (!use_children_files_) FindByParents();
  SumTicks();
}

}  // namespace gpuwhy::os
