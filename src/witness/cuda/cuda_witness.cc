// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/cuda/cuda_witness.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/environment.h"
#include "base/format.h"
#include "base/text.h"

namespace gpuwhy::cuda {
namespace {

constexpr int64_t kLetGoNs = 500'000'000;  // a library leaves CUPTI at the job's next CUDA call; longer we do not wait
constexpr long kNapNs = 10'000'000;

bool AtWork(wire::State state) {
  return state == wire::State::kProof || state == wire::State::kTiming || state == wire::State::kSync ||
         state == wire::State::kPermanent || state == wire::State::kDetaching;
}

}  // namespace

void CudaWitness::Start(const WitnessContext& context, EvidenceSink& sink) {
  context_ = context;
  // For measuring what a window leaves behind, and for jobs whose first minutes are not like the rest.
  const std::optional<std::string> after = Environment("GPUWHY_WINDOW_AFTER");
  const std::optional<double> seconds = after ? ParseDouble(*after) : std::nullopt;
  if (seconds && *seconds > 0 && *seconds < 1e6)
    budget_.next_start_ns = MonotonicNs() + static_cast<int64_t>(*seconds * 1e9);
  Scan(sink);
}

void CudaWitness::Scan(EvidenceSink& sink) {
  std::vector<wire::RingSpool::Refusal> refused;
  for (wire::OwnedRing& ring : cuda_rings_.Scan(context_.spool, jobs_.size(), &refused)) {
    Job job;
    job.process = std::make_unique<CudaProcess>(ring.pid, context_.session_start_ns);
    pids_.insert(ring.pid);
    job.ring = std::move(ring);
    jobs_.push_back(std::move(job));
  }
  for (const wire::RingSpool::Refusal& refusal : refused) {
    sink.Add(Gap{"GPU work of one process", Format("{}: {}", refusal.path, refusal.why), ""});
  }
  refused.clear();  // the framework witness names its own
  for (wire::OwnedRing& ring : python_rings_.Scan(context_.spool, observed_.size(), &refused))
    observed_.push_back(std::move(ring));
}

void CudaWitness::ObservePython() {
  for (size_t i = 0; i < observed_.size();) {
    wire::OwnedRing& ring = observed_[i];
    const bool finished = ring.Finished();
    Python& python = python_[ring.pid];
    python.steps = ring.reader->steps();
    ring.reader->Drain(
        [&](const wire::Common& record) {
          if (record.type != static_cast<uint16_t>(wire::Type::kProfiler)) return;
          const auto profiler = wire::As<wire::Profiler>(record);
          python.user_profiler =
              python.user_profiler || profiler.action == static_cast<uint32_t>(wire::ProfilerAction::kStart);
        },
        finished);
    if (finished) {
      observed_.erase(observed_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void CudaWitness::Read(Job& job, bool writer_gone, EvidenceSink& sink) {
  job.ring.reader->Drain([&](const wire::Common& record) { job.process->Take(record, sink); }, writer_gone);
}

void CudaWitness::Send(Job& job, const WindowOrder& order) {
  if (order.command == wire::Command::kTimingWindow) job.process->Expect(wire::WindowMode::kTiming, order.milliseconds);
  if (order.command == wire::Command::kSyncWindow) job.process->Expect(wire::WindowMode::kSync, order.milliseconds);
  job.policy.Sent(job.ring.reader->Send(order.command, order.milliseconds, 0));
}

void CudaWitness::Steer(Job& job, EvidenceSink& sink) {
  const wire::State state = job.ring.reader->state();
  if (context_.trace == "permanent") {
    // The library starts it by itself where the variable reached it; the command is for a process that lost it.
    const bool plain = state == wire::State::kProof || state == wire::State::kDetached;
    if (plain && !job.asked_permanent) Send(job, {wire::Command::kPermanent, 0});
    job.asked_permanent = job.asked_permanent || plain;
    return;
  }
  if (context_.trace != "window") return;
  const auto python = python_.find(job.ring.pid);
  ProcessView view;
  view.now_ns = MonotonicNs();
  view.state = state;
  view.ack_seq = job.ring.reader->ack_seq();
  view.first_work_ns = job.process->first_work_ns();
  view.ended_timing = job.process->ended(wire::WindowMode::kTiming);
  view.ended_sync = job.process->ended(wire::WindowMode::kSync);
  view.library_cost_ns = job.process->last_cost_ns();
  if (python != python_.end()) {
    view.steps = python->second.steps;
    view.user_profiler = python->second.user_profiler;
  }
  if (const std::optional<WindowOrder> order = job.policy.Next(view, budget_)) Send(job, *order);
  if (!job.policy.over() || job.policy.why_over().empty() || std::exchange(job.told_why, true)) return;
  sink.Add(Gap{Format("further windows into the GPU work of process {}", job.ring.pid), job.policy.why_over(), ""});
}

void CudaWitness::Poll(double time_s, EvidenceSink& sink) {
  Scan(sink);
  ObservePython();
  const auto now_ns = static_cast<uint64_t>(MonotonicNs());
  for (size_t i = 0; i < jobs_.size();) {
    Job& job = jobs_[i];
    job.ring.reader->KeepLease(now_ns);
    // Asked before the drain: what a process wrote before it died is complete now.
    const bool finished = job.ring.Finished();
    Read(job, false, sink);
    job.process->SayState(job.ring.reader->state(), time_s, sink);
    if (finished) {
      Close(job, time_s, sink);
      jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    Steer(job, sink);
    ++i;
  }
}

void CudaWitness::Close(Job& job, double time_s, EvidenceSink& sink) {
  const bool finished = job.ring.Finished();
  // Each call returns a whole ring at most; the writer may have filled it while we read.
  for (int round = 0; round < 4; ++round) Read(job, finished, sink);
  job.process->SayState(job.ring.reader->state(), time_s, sink);
  job.process->Finish(job.ring.reader->dropped(), job.ring.reader->skipped(), job.policy.lost_ns(), time_s, sink);
  // 8 MB each: a job that starts a thousand CUDA processes must not fill the disk.
  if (finished) unlink(job.ring.path.c_str());
}

void CudaWitness::LetGo(EvidenceSink& sink) {
  bool any = false;
  for (Job& job : jobs_) {
    if (job.ring.Finished()) continue;
    job.ring.reader->Send(wire::Command::kClose, 0, 0);
    any = any || AtWork(job.ring.reader->state());
  }
  const int64_t deadline = MonotonicNs() + kLetGoNs;
  while (any && MonotonicNs() < deadline) {
    const timespec nap{0, kNapNs};
    nanosleep(&nap, nullptr);
    any = false;
    for (Job& job : jobs_) {
      job.ring.reader->KeepLease(static_cast<uint64_t>(MonotonicNs()));
      Read(job, false, sink);
      any = any || (!job.ring.Finished() && AtWork(job.ring.reader->state()));
    }
  }
}

void CudaWitness::Stop(double time_s, EvidenceSink& sink) {
  // Rings beyond the limit of open ones wait for their turn; each round closes all that are open.
  do {
    Scan(sink);
    LetGo(sink);
    for (Job& job : jobs_) Close(job, time_s, sink);
    const bool more = jobs_.size() >= wire::RingSpool::kMaxOpen;
    jobs_.clear();
    if (!more) return;
  } while (true);
}

std::vector<int64_t> CudaWitness::KnownProcesses() const { return {pids_.begin(), pids_.end()}; }

}  // namespace gpuwhy::cuda

namespace gpuwhy {

extern const WitnessInfo kWitness_cuda;
const WitnessInfo kWitness_cuda{"cuda", 0.1, true,
                                [] { return std::unique_ptr<Witness>(std::make_unique<cuda::CudaWitness>()); }};

}  // namespace gpuwhy
