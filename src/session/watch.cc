// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/watch.h"

#include <algorithm>

#include "base/clock.h"

namespace gpuwhy {

Watch::Watch(WitnessContext context, EvidenceSink& sink) : context_(std::move(context)), sink_(sink) {
  for (const WitnessInfo* info : AllWitnesses()) {
    if (info->live_only && context_.job_pid == 0 && context_.spool.empty()) continue;
    members_.push_back({info, info->create(), MonotonicNs()});
  }
  for (Member& member : members_) member.witness->Start(context_, sink_);
  ShareProcesses();
}

double Watch::Now() const { return static_cast<double>(MonotonicNs() - context_.session_start_ns) * 1e-9; }

void Watch::Tick() {
  for (Member& member : members_) {
    const int64_t now = MonotonicNs();
    if (member.due_ns > now) continue;
    member.witness->Poll(Now(), sink_);
    // After a pause (Ctrl-Z, a suspended machine) the missed polls are not made up for.
    const auto period = static_cast<int64_t>(member.info->period_s * 1e9);
    member.due_ns = std::max(member.due_ns + period, now + period / 2);
  }
  ShareProcesses();
}

int64_t Watch::NextTickNs() const {
  int64_t next = INT64_MAX;
  for (const Member& member : members_) next = std::min(next, member.due_ns);
  return next;
}

void Watch::Stop() {
  for (Member& member : members_) member.witness->Stop(Now(), sink_);
}

void Watch::ShareProcesses() {
  std::vector<int64_t> all;
  for (const Member& member : members_) {
    for (const int64_t pid : member.witness->KnownProcesses()) all.push_back(pid);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all == processes_) return;
  processes_ = std::move(all);
  for (const Member& member : members_) member.witness->JobProcesses(processes_);
}

}  // namespace gpuwhy
