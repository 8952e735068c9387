// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/environment.h"
#include "base/format.h"
#include "base/text.h"
#include "engine/engine.h"
#include "session/embedded.h"
#include "session/job_environment.h"
#include "session/library_check.h"
#include "session/recorder.h"
#include "session/run.h"
#include "session/session_store.h"
#include "session/spool.h"
#include "session/watch.h"

namespace gpuwhy {
namespace {

constexpr double kFirstLook = 2;  // the framework's own word on its build is there soon after its import
constexpr double kLookPeriod = 1;
constexpr double kLastEarlyLook = 120;  // an early warning later than this is none; the report says it at the end
constexpr double kSureEnough = 0.9;
constexpr int64_t kFlushPeriodNs = 1'000'000'000;

std::unique_ptr<SessionWriter> OpenSession(const RunOptions& options, int64_t start_ns, std::vector<Gap>& gaps) {
  std::string path = options.session_path;
  if (path.empty()) {
    const Result<std::string> fresh = NewSessionPath(WallNs(), getpid());
    if (!fresh) {
      gaps.push_back({"the session file", fresh.error().message, "name a place with --session FILE"});
      return nullptr;
    }
    path = *fresh;
  }
  Result<std::unique_ptr<SessionWriter>> writer = SessionWriter::Create(path, WallNs(), start_ns);
  if (writer) return std::move(*writer);
  gaps.push_back({"the session file", writer.error().message, "name a place with --session FILE"});
  return nullptr;
}

// One run from the start of the job to its report.
class Runner {
 public:
  Runner(const RunOptions& options, int64_t start_ns) : options_(options), start_ns_(start_ns) {}

  Result<RunResult> Run(const InheritedState& inherited) {
    std::vector<Gap> gaps;
    recorder_ = std::make_unique<Recorder>(OpenSession(options_, start_ns_, gaps));
    for (const Gap& gap : gaps) recorder_->Add(gap);
    const JobEnvironment environment = Prepare();
    Result<Job> job = Job::Start(inherited, options_.command, environment.changes, options_.job);
    if (!job) {
      if (spool_) (void)spool_->RemoveIfUnused();
      return job.error();
    }
    RunResult result;
    result.job.emplace(std::move(*job));
    Note(*result.job, environment);
    Follow(result);
    End(result);
    return result;
  }

 private:
  JobEnvironment Prepare() {
    Injection injection;
    injection.trace = options_.trace;
    if (Environment("GPUWHY_DISABLE").value_or("") == "1") {
      recorder_->Add(Gap{"the view from inside the job", "GPUWHY_DISABLE=1 is set", "unset it"});
      return MakeJobEnvironment(OwnEnvironment(), injection);
    }
    Result<Spool> spool = Spool::Create(SpoolPlaces::FromEnvironment(), EmbeddedAgent(), EmbeddedInject());
    if (spool) {
      spool_.emplace(std::move(*spool));
      injection.spool = spool_->folder();
      injection.agent_folder = spool_->agent_folder();
      if (options_.trace != "off") injection.library = spool_->library();
      for (const Gap& gap : spool_->gaps()) recorder_->Add(gap);
    } else {
      recorder_->Add(Gap{"the view from inside the job", spool.error().message, spool.error().hint});
    }
    JobEnvironment environment = MakeJobEnvironment(OwnEnvironment(), injection);
    for (const Gap& gap : environment.gaps) recorder_->Add(gap);
    return environment;
  }

  void Note(const Job& job, const JobEnvironment& environment) {
    const auto say = [&](const char* name, Scalar value, Source source) {
      recorder_->AddFact(name, Entity::Host(), Value::Of(std::move(value)), source);
    };
    say("job.pid", job.pid(), Source::kOs);
    say("job.command", Join(options_.command, " ").substr(0, 300), Source::kOs);
    const bool injected = environment.changes.count("CUDA_INJECTION64_PATH") != 0;
    say("cuda.injected", injected, Source::kCuda);
    if (!injected && !environment.gaps.empty())
      say("cuda.not_injected_why", environment.gaps.back().why, Source::kCuda);
    WitnessContext context;
    context.root = HostRoot::FromEnvironment();
    context.nvml_library = Environment("GPUWHY_NVML").value_or("");
    context.spool = spool_ ? spool_->folder() : "";
    context.job_pid = job.pid();
    context.session_start_ns = start_ns_;
    context.trace = options_.trace;
    watch_ = std::make_unique<Watch>(context, *recorder_);
  }

  void Follow(RunResult& result) {
    int64_t flush_ns = start_ns_;
    for (;;) {
      const int64_t next = watch_ ? watch_->NextTickNs() - MonotonicNs() : kFlushPeriodNs;
      if (result.job->Wait(std::clamp<int64_t>(next, 0, kFlushPeriodNs)) == JobEvent::kEnded) return;
      if (!watch_) continue;
      watch_->Tick();
      libraries_.Look(*recorder_, recorder_->evidence(), watch_->Now());
      if (MonotonicNs() >= flush_ns) {
        flush_ns = MonotonicNs() + kFlushPeriodNs;
        recorder_->Flush();
      }
      LookEarly(result);
      if (options_.watch_seconds > 0 && watch_->Now() >= options_.watch_seconds) StopWatching();
    }
  }

  void StopWatching() {
    if (!watch_) return;
    watched_s_ = watch_->Now();
    watch_->Stop();
    libraries_.Look(*recorder_, recorder_->evidence(), watched_s_);
    watch_.reset();
    recorder_->Flush();
  }

  void LookEarly(RunResult& result) {
    const bool wanted = options_.stop_on_not_used || options_.on_not_used;
    const double now = watch_->Now();
    if (!wanted || told_ || now < next_look_s_ || (now > kLastEarlyLook && !options_.stop_on_not_used)) return;
    next_look_s_ = now + kLookPeriod;
    const Report report = Diagnose(recorder_->evidence());
    if (report.verdict.gpu_used != GpuUsed::kNo || report.verdict.confidence < kSureEnough) return;
    told_ = true;
    if (options_.on_not_used) options_.on_not_used(report);
    if (options_.stop_on_not_used) {
      result.job->Terminate();
      result.stopped_by_us = true;
    }
  }

  void End(RunResult& result) {
    const double ended_s = static_cast<double>(MonotonicNs() - start_ns_) * 1e-9;
    StopWatching();
    const auto say = [&](const char* name, Scalar value) {
      recorder_->AddFact(name, Entity::Host(), Value::Of(std::move(value)), Source::kOs, "", ended_s);
    };
    say("job.wall.seconds", std::min(ended_s, watched_s_));
    if (watched_s_ + 0.5 < ended_s) say("job.unwatched.seconds", ended_s - watched_s_);
    if (result.job->stopped_seconds() > 0) say("job.stopped.seconds", result.job->stopped_seconds());
    if (result.job->exit_code()) say("job.exit_status", int64_t{*result.job->exit_code()});
    if (result.job->term_signal()) say("job.signal", int64_t{*result.job->term_signal()});
    recorder_->Flush();
    result.report = Diagnose(recorder_->evidence());
    if (spool_) (void)spool_->RemoveIfUnused();
    if (options_.session_path.empty()) {
      if (const Result<std::string> folder = SessionFolder(); folder) PruneSessions(*folder);
    }
  }

  const RunOptions& options_;
  int64_t start_ns_;
  std::unique_ptr<Recorder> recorder_;
  std::optional<Spool> spool_;
  std::unique_ptr<Watch> watch_;
  LibraryCheck libraries_;
  double watched_s_ = 0;
  double next_look_s_ = kFirstLook;
  bool told_ = false;
};

}  // namespace

Result<RunResult> RunJob(const InheritedState& inherited, const RunOptions& options) {
  return Runner(options, MonotonicNs()).Run(inherited);
}

std::vector<std::string> RecoverOrphans() {
  std::vector<std::string> paths;
  for (OrphanedSpool& orphan : CollectOrphans(SpoolPlaces::FromEnvironment())) {
    const Result<std::string> path =
        orphan.has_rings() ? NewSessionPath(WallNs() - 1'000'000 * static_cast<int64_t>(paths.size() + 1), getpid())
                           : Result<std::string>(Error{ErrorCode::kNotFound, "no rings", ""});
    if (path) {
      Result<std::unique_ptr<SessionWriter>> writer = SessionWriter::Create(*path, WallNs(), 0);
      if (!writer) continue;  // left for the next time: nothing is lost
      Recorder recorder(std::move(*writer));
      WitnessContext context;
      context.root = HostRoot::FromEnvironment();
      context.spool = orphan.folder();
      context.trace = "off";
      context.session_start_ns = 0;  // records keep their CLOCK_MONOTONIC times
      Watch watch(context, recorder);
      watch.Tick();
      watch.Stop();
      recorder.Add(
          Gap{"the end of this job", "its gpuwhy was killed; this session holds what the job itself had recorded", ""});
      recorder.Flush();
      paths.push_back(*path);
    }
    orphan.Remove();
  }
  return paths;
}

}  // namespace gpuwhy
