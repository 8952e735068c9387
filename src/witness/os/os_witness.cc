// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "witness/os/host_facts.h"
#include "witness/os/process_facts_linux.h"
#include "witness/os/process_tree_linux.h"
#include "witness/witness.h"

namespace gpuwhy {
namespace os {
namespace {

// So many processes get facts of their own; the rest is counted and its CPU time summed.
constexpr size_t kMaxDetailed = 40;
// Time for reading mappings and descriptors in one poll; one process is always read, so that a slow machine gets on
// too.
constexpr int64_t kHeavyBudgetNs = 400'000;
constexpr int64_t kLastHeavyBudgetNs = 20'000'000;

class OsWitness : public Witness {
 public:
  void Start(const WitnessContext& context, EvidenceSink& sink) override;
  void Poll(double time_s, EvidenceSink& sink) override { Read(time_s, kHeavyBudgetNs, sink); }
  void Stop(double time_s, EvidenceSink& sink) override;
  void JobProcesses(const std::vector<int64_t>& pids) override { told_ = pids; }
  std::vector<int64_t> KnownProcesses() const override;

 private:
  void Read(double time_s, int64_t heavy_budget_ns, EvidenceSink& sink);
  void ReadLight(double time_s, EvidenceSink& sink);
  void ReadHeavy(double time_s, int64_t budget_ns, EvidenceSink& sink);
  void AddBlockIoAccounting(EvidenceSink& sink);

  HostRoot root_;
  std::optional<ProcessTree> tree_;
  std::vector<int64_t> told_;
  std::map<int64_t, ProcessFacts> detailed_;  // living processes
  size_t heavy_turn_ = 0;
  size_t undetailed_ = 0;  // most processes without facts of their own at one time
  bool block_io_accounted_ = false;
};

void OsWitness::AddBlockIoAccounting(EvidenceSink& sink) {
  // Since Linux 5.14 off unless asked for (Documentation/accounting/delay-accounting.rst); older kernels have no such
  // file and account always. The kernel that counts is the real one, also under a root folder of tests.
  const Result<std::string> setting = ReadFile("/proc/sys/kernel/task_delayacct", 64);
  block_io_accounted_ = !setting || Trim(*setting) != "0";
  if (block_io_accounted_) return;
  sink.AddFact(
      "process.io_wait.seconds", Entity::Host(),
      Value::Missing(State::kUnsupported, "delay accounting is off (sysctl kernel.task_delayacct=1 turns it on)"),
      Source::kOs);
}

void OsWitness::Start(const WitnessContext& context, EvidenceSink& sink) {
  root_ = context.root;
  AddMachineFacts(root_, sink);
  AddDriverFacts(root_, sink);
  if (context.job_pid <= 0) return;
  tree_.emplace(context.job_pid);
  AddBlockIoAccounting(sink);
}

void OsWitness::ReadLight(double time_s, EvidenceSink& sink) {
  size_t undetailed = 0;
  for (const TreeProcess& process : tree_->processes()) {
    if (!process.alive) continue;
    auto facts = detailed_.find(process.pid);
    if (facts == detailed_.end() && detailed_.size() < kMaxDetailed)
      facts = detailed_.emplace(process.pid, ProcessFacts(root_, process.pid)).first;
    if (facts == detailed_.end()) {
      ++undetailed;
    } else {
      facts->second.ReadLight(process, block_io_accounted_, time_s, sink);
    }
  }
  undetailed_ = std::max(undetailed_, undetailed);
}

void OsWitness::ReadHeavy(double time_s, int64_t budget_ns, EvidenceSink& sink) {
  if (detailed_.empty()) return;
  // The root first: it is the job itself where nothing was spawned. The others take turns.
  const int64_t start = MonotonicNs();
  const auto root = detailed_.find(tree_->root());
  if (root != detailed_.end() && root->second.HeavyDue(time_s)) root->second.ReadHeavy(time_s, sink);
  const size_t count = detailed_.size();
  auto next = std::next(detailed_.begin(), static_cast<std::ptrdiff_t>(heavy_turn_ % count));
  for (size_t i = 0; i < count; ++i) {
    if (next->first != tree_->root() && next->second.HeavyDue(time_s)) next->second.ReadHeavy(time_s, sink);
    ++heavy_turn_;
    if (++next == detailed_.end()) next = detailed_.begin();
    if (MonotonicNs() - start > budget_ns) return;
  }
}

void OsWitness::Read(double time_s, int64_t heavy_budget_ns, EvidenceSink& sink) {
  if (!tree_) return;
  tree_->Update(told_);
  for (const int64_t pid : tree_->ended()) {
    const auto facts = detailed_.find(pid);
    if (facts == detailed_.end()) continue;
    facts->second.Ended(time_s, sink);
    detailed_.erase(facts);
  }
  ReadLight(time_s, sink);
  ReadHeavy(time_s, heavy_budget_ns, sink);
  const Entity job = Entity::Process(tree_->root());
  static const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (tree_->seen() > 0)
    sink.Add(Sample{"job.cpu.seconds", job, time_s, static_cast<double>(tree_->total_ticks()) / per_second});
  sink.Add(Sample{"job.processes", job, time_s, static_cast<double>(tree_->alive())});
}

void OsWitness::Stop(double time_s, EvidenceSink& sink) {
  if (!tree_) return;
  Read(time_s, kLastHeavyBudgetNs, sink);
  const Entity job = Entity::Process(tree_->root());
  sink.AddFact("job.processes.seen", job, Value::Of(static_cast<int64_t>(tree_->seen())), Source::kOs, "", time_s);
  if (tree_->seen() == 0) {
    sink.Add(Gap{"processes of the job", Format("process {} ended before it was seen", tree_->root()), ""});
    return;
  }
  for (const TreeProcess& process : tree_->processes()) {
    if (process.hidden.empty()) continue;
    sink.Add(Gap{Format("process {}", process.pid), process.hidden, "run gpuwhy as the user that owns the job"});
  }
  if (undetailed_ == 0) return;
  sink.Add(
      Gap{"details of processes",
          Format("{} processes of the job were only counted: at most {} are read in detail", undetailed_, kMaxDetailed),
          ""});
}

std::vector<int64_t> OsWitness::KnownProcesses() const {
  std::vector<int64_t> pids;
  if (!tree_) return pids;
  for (const TreeProcess& process : tree_->processes()) {
    if (process.alive) pids.push_back(process.pid);
  }
  return pids;
}

std::unique_ptr<Witness> Create() { return std::make_unique<OsWitness>(); }

}  // namespace
}  // namespace os

extern constinit const WitnessInfo kWitness_os;
constinit const WitnessInfo kWitness_os{"os", 1.0, false, &os::Create};

}  // namespace gpuwhy
