// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/framework/framework_witness.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/format.h"

namespace gpuwhy::framework {
namespace {

constexpr uint32_t kHostSamplesMs = 1000;  // the length of a timing window
constexpr uint32_t kProfileMs = 1000;
constexpr uint64_t kProfileAfterNs = 5'000'000'000;  // of training: before it, tf.data still fills its buffers
constexpr size_t kMaxEarlyWindows = 100;

uint64_t Clock() { return static_cast<uint64_t>(MonotonicNs()); }

}  // namespace

void FrameworkWitness::Start(const WitnessContext& context, EvidenceSink& sink) {
  context_ = context;
  Scan(sink);
}

double FrameworkWitness::Now() const { return static_cast<double>(MonotonicNs() - context_.session_start_ns) / 1e9; }

void FrameworkWitness::Scan(EvidenceSink& sink) {
  std::vector<wire::RingSpool::Refusal> refused;
  for (wire::OwnedRing& ring : python_rings_.Scan(context_.spool, jobs_.size(), &refused)) {
    Job job;
    job.process = std::make_unique<PythonProcess>(ring.pid, context_.session_start_ns);
    for (const wire::Window& window : early_windows_[ring.pid]) job.process->TakeWindow(window);
    if (ring.translated) {
      job.process->json().Say("process.inner_pid", Value::Of(int64_t{ring.reader->pid()}), Now(), sink);
    }
    pids_.insert(ring.pid);
    job.ring = std::move(ring);
    jobs_.push_back(std::move(job));
  }
  for (const wire::RingSpool::Refusal& refusal : refused) {
    sink.Add(Gap{"what the Python agent of one process wrote", Format("{}: {}", refusal.path, refusal.why), ""});
  }
  refused.clear();  // the cuda witness names its own
  for (wire::OwnedRing& ring : cuda_rings_.Scan(context_.spool, observed_.size(), &refused))
    observed_.push_back(std::move(ring));
}

void FrameworkWitness::ObserveWindows() {
  for (size_t i = 0; i < observed_.size();) {
    wire::OwnedRing& ring = observed_[i];
    const bool finished = ring.Finished();
    ring.reader->Drain(
        [&](const wire::Common& record) {
          if (record.type != static_cast<uint16_t>(wire::Type::kWindow)) return;
          const auto window = wire::As<wire::Window>(record);
          std::vector<wire::Window>& early = early_windows_[ring.pid];
          if (early.size() < kMaxEarlyWindows) early.push_back(window);
          for (Job& job : jobs_) {
            if (job.ring.pid == ring.pid) job.process->TakeWindow(window);
          }
        },
        finished);
    if (finished) {
      observed_.erase(observed_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void FrameworkWitness::Command(Job& job, uint64_t now_ns) {
  if (context_.trace == "off") return;
  const PythonProcess& process = *job.process;
  if (!process.windows().timing_open()) job.asked_host_samples = false;
  // The control page holds one wish: the next one waits until the agent took the last.
  if (job.asked_seq != 0 && job.ring.reader->ack_seq() != job.asked_seq) return;
  if (process.windows().timing_open() && !job.asked_host_samples) {
    job.asked_host_samples = true;
    job.asked_seq = job.ring.reader->Send(wire::Command::kHostSamples, kHostSamplesMs, 0);
    return;
  }
  const uint64_t training = process.first_train_call_ns();
  const bool trains = training != 0 && now_ns > training + kProfileAfterNs;
  if (job.asked_profile || !trains || process.user_profiler_seen() || process.windows().any_open()) return;
  if (job.process->json().Known("tensorflow.version").empty()) return;
  job.asked_profile = true;
  job.asked_seq = job.ring.reader->Send(wire::Command::kTfProfile, kProfileMs, 0);
}

void FrameworkWitness::Poll(double time_s, EvidenceSink& sink) {
  Scan(sink);
  ObserveWindows();
  const uint64_t now_ns = Clock();
  for (size_t i = 0; i < jobs_.size();) {
    Job& job = jobs_[i];
    job.ring.reader->KeepLease(now_ns);
    // Asked before the drain: what a process wrote before it died is complete now.
    const bool finished = job.ring.Finished();
    job.ring.reader->Drain([&](const wire::Common& record) { job.process->Take(record, sink); });
    job.process->Settle(now_ns, sink);
    if (finished) {
      Close(job, time_s, sink);
      jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    Command(job, now_ns);
    if (time_s >= job.next_totals_s) {
      job.process->Totals(time_s, sink);
      job.next_totals_s = time_s + 1;
    }
    ++i;
  }
}

void FrameworkWitness::Close(Job& job, double time_s, EvidenceSink& sink) {
  const bool finished = job.ring.Finished();
  // A whole ring at most comes back from one call; the writer may have filled it while we read.
  for (int round = 0; round < 4; ++round) {
    if (job.ring.reader->Drain([&](const wire::Common& record) { job.process->Take(record, sink); }, finished) == 0)
      break;
  }
  job.process->Finish(job.ring.reader->dropped(), job.ring.reader->skipped(), time_s, sink);
  // 8 MB each: a job that starts a thousand interpreters must not fill the disk.
  if (finished) unlink(job.ring.path.c_str());
}

void FrameworkWitness::Stop(double time_s, EvidenceSink& sink) {
  // Rings beyond the limit of open ones wait for their turn; each round closes all that are open.
  do {
    Scan(sink);
    ObserveWindows();
    for (Job& job : jobs_) Close(job, time_s, sink);
    const bool more = jobs_.size() >= wire::RingSpool::kMaxOpen;
    jobs_.clear();
    if (!more) return;
  } while (true);
}

std::vector<int64_t> FrameworkWitness::KnownProcesses() const { return {pids_.begin(), pids_.end()}; }

}  // namespace gpuwhy::framework

namespace gpuwhy {

extern const WitnessInfo kWitness_framework;
const WitnessInfo kWitness_framework{
    "framework", 0.2, true, [] { return std::unique_ptr<Witness>(std::make_unique<framework::FrameworkWitness>()); }};

}  // namespace gpuwhy
