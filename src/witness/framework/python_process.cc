// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/framework/python_process.h"

#include <algorithm>

namespace gpuwhy::framework {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint16_t kFlagEvaluation = 1;  // flags of a wait record: the batch was drawn while gradients were off
constexpr size_t kMaxNames = 20'000;
// Longer than any job: a time beyond it is garbage, and sums of such times cannot overflow.
constexpr uint64_t kMaxTime = uint64_t{1} << 61;

Value Count(uint64_t value) { return Value::Of(static_cast<int64_t>(std::min(value, kMaxTime))); }

}  // namespace

PythonProcess::PythonProcess(int64_t pid, int64_t session_start_ns)
    : pid_(pid), session_start_ns_(session_start_ns), json_("framework", Source::kFramework, pid) {}

double PythonProcess::Seconds(uint64_t time_ns) const {
  return static_cast<double>(static_cast<int64_t>(std::min(time_ns, kMaxTime)) - session_start_ns_) / 1e9;
}

uint32_t PythonProcess::Name(uint32_t blob) const {
  const auto place = names_.find(blob);
  return place == names_.end() ? 0 : place->second;
}

void PythonProcess::Take(const wire::Common& record, EvidenceSink& sink) {
  if (record.time_ns > kMaxTime) {
    ++malformed_;
    return;
  }
  const double time_s = Seconds(record.time_ns);
  switch (static_cast<wire::Type>(record.type)) {
    case wire::Type::kBlob:
      return TakeBlob(wire::As<wire::Blob>(record), time_s, sink);
    case wire::Type::kWait:
      return TakeWait(record, sink);
    case wire::Type::kStep:
      return TakeStep(wire::As<wire::Step>(record), sink);
    case wire::Type::kTrainCall:
      return TakeTrainCall(record, sink);
    case wire::Type::kProfiler:
      return TakeProfiler(wire::As<wire::Profiler>(record), time_s, sink);
    case wire::Type::kMemory:
      return TakeMemory(wire::As<wire::Memory>(record), time_s, sink);
    case wire::Type::kHostSample:
      return TakeHostSample(wire::As<wire::HostSample>(record), sink);
    default:
      return TakeDuration(record, sink);
  }
}

// Records that are no more than a named interval.
void PythonProcess::TakeDuration(const wire::Common& record, EvidenceSink& sink) {
  Span span;
  switch (static_cast<wire::Type>(record.type)) {
    case wire::Type::kSave: {
      const auto save = wire::As<wire::Save>(record);
      if (!MakeSpan(SpanKind::kCheckpoint, record, save.start_ns, save.duration_ns, &span)) return;
      save_ns_ += save.duration_ns;
      return Hold(record, span, true, sink);
    }
    case wire::Type::kCompile: {
      const auto compile = wire::As<wire::Compile>(record);
      if (!MakeSpan(SpanKind::kCompile, record, compile.start_ns, compile.duration_ns, &span)) return;
      compile_ns_ += compile.duration_ns;
      span.detail[0] = compile.flags;
      return Hold(record, span, compile.duration_ns >= kLongNs, sink);
    }
    case wire::Type::kGc: {
      const auto gc = wire::As<wire::Gc>(record);
      if (!MakeSpan(SpanKind::kCollection, record, gc.start_ns, gc.duration_ns, &span)) return;
      gc_ns_ += gc.duration_ns;
      span.detail[0] = gc.generation;
      return Hold(record, span, gc.duration_ns >= kLongNs, sink);
    }
    default:
      // Type 0 fills a slot that its writer gave up; anything else is of a newer or a broken agent.
      if (record.type != 0) ++unknown_;
  }
}

void PythonProcess::TakeBlob(const wire::Blob& piece, double time_s, EvidenceSink& sink) {
  wire::BlobAssembler::Text text;
  if (!blobs_.Add(piece, &text)) return;
  if (text.kind == wire::BlobKind::kFactsJson) return json_.AddFacts(text.text, time_s, sink);
  if (text.kind == wire::BlobKind::kGapJson) return json_.AddGap(text.text, sink);
  if (text.kind != wire::BlobKind::kFrameName || names_.size() >= kMaxNames) return;
  text.text.resize(std::min<size_t>(text.text.size(), 300));
  names_[text.id] = sink.Intern(text.text);
  texts_[text.id] = text.text;
}

bool PythonProcess::MakeSpan(SpanKind kind, const wire::Common& record, uint64_t start_ns, uint64_t duration_ns,
                             Span* out) {
  if (start_ns > kMaxTime || duration_ns > kMaxTime || start_ns + duration_ns > record.time_ns + kSecond) {
    ++malformed_;
    return false;
  }
  out->kind = kind;
  out->pid = pid_;
  out->start_ns = static_cast<int64_t>(start_ns) - session_start_ns_;
  out->duration_ns = static_cast<int64_t>(duration_ns);
  out->lane = record.tid;
  return true;
}

void PythonProcess::TakeWait(const wire::Common& record, EvidenceSink& sink) {
  const auto wait = wire::As<wire::Wait>(record);
  Span span;
  if (!MakeSpan(SpanKind::kInputWait, record, wait.start_ns, wait.duration_ns, &span)) return;
  const bool evaluation = (wait.flags & kFlagEvaluation) != 0;
  (evaluation ? evaluation_wait_ns_ : wait_ns_) += wait.duration_ns;
  (evaluation ? has_evaluation_wait_ : has_wait_) = true;
  span.detail[0] = wait.items;
  span.detail[1] = evaluation ? 1 : 0;
  span.detail[2] = wait.loader;
  Hold(record, span, false, sink);
}

void PythonProcess::TakeTrainCall(const wire::Common& record, EvidenceSink& sink) {
  const auto call = wire::As<wire::TrainCall>(record);
  Span span;
  if (!MakeSpan(SpanKind::kTrainCall, record, call.start_ns, call.duration_ns, &span)) return;
  if (first_train_call_ns_ == 0) first_train_call_ns_ = record.time_ns;
  train_steps_ += call.steps;
  span.detail[0] = call.steps;
  Hold(record, span, false, sink);
}

void PythonProcess::TakeProfiler(const wire::Profiler& record, double time_s, EvidenceSink& sink) {
  const bool start = record.action == static_cast<uint32_t>(wire::ProfilerAction::kStart);
  user_profiler_seen_ = user_profiler_seen_ || start;
  json_.Say("profiler.active", Value::Of(start), time_s, sink);
  const auto name = texts_.find(record.id);
  const Value unnamed = Value::Missing(State::kUnknown, "its name was lost on the way");
  json_.Say("profiler.name", name == texts_.end() ? unnamed : Value::Of(name->second), time_s, sink);
  json_.Say(start ? "profiler.started.seconds" : "profiler.stopped.seconds", Value::Of(time_s), time_s, sink);
}

void PythonProcess::TakeHostSample(const wire::HostSample& record, EvidenceSink& sink) {
  if (record.category > static_cast<uint32_t>(wire::HostCategory::kIdle)) {
    ++malformed_;
  } else if (++host_samples_ > kMaxHostSamples) {
    ++capped_;
  } else {
    sink.Add(HostSample{pid_, static_cast<int64_t>(record.time_ns) - session_start_ns_, record.category,
                        Name(record.frame)});
  }
}

void PythonProcess::TakeMemory(const wire::Memory& record, double time_s, EvidenceSink& sink) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 46;  // 64 TiB: no device has more
  if (record.allocated > kMostBytes || record.reserved > kMostBytes || record.device > 255) {
    ++malformed_;
    return;
  }
  // The device that the process looked at first; several in turn would make one jumping series.
  if (memory_device_ < 0) memory_device_ = static_cast<int>(record.device);
  if (memory_device_ != static_cast<int>(record.device)) return;
  const Entity process = Entity::Process(pid_);
  const auto add = [&](const char* metric, double value) { sink.Add(Sample{metric, process, time_s, value}); };
  add("framework.memory.allocated.bytes", static_cast<double>(record.allocated));
  if (record.reserved > 0) add("framework.memory.reserved.bytes", static_cast<double>(record.reserved));
  if (record.device_allocs <= kMaxTime)
    add("framework.memory.device_allocs", static_cast<double>(record.device_allocs));
  if (record.retries != UINT32_MAX) add("framework.memory.retries", record.retries);
}

void PythonProcess::TakeStep(const wire::Step& record, EvidenceSink& sink) {
  const bool sound = std::max({record.index, record.hook_ns, record.wait_ns, record.save_ns, record.items}) <= kMaxTime;
  if (!sound) {
    ++malformed_;
    return;
  }
  step_index_ = std::max(step_index_, record.index);
  const int64_t time = static_cast<int64_t>(record.time_ns) - session_start_ns_;
  held_steps_.push_back(
      {record.time_ns, {pid_, time, record.index, record.wait_ns, record.save_ns, record.items, record.hook_ns}});
  if (held_steps_.size() <= kMaxHeld) return;
  DecideStep(held_steps_.front(), sink);
  held_steps_.pop_front();
}

void PythonProcess::Hold(const wire::Common& record, const Span& span, bool always, EvidenceSink& sink) {
  held_.push_back({record.time_ns, span, always});
  if (held_.size() <= kMaxHeld) return;
  DecideSpan(held_.front(), sink);
  held_.pop_front();
}

void PythonProcess::DecideSpan(const Held& held, EvidenceSink& sink) {
  const auto kind = static_cast<size_t>(held.span.kind);
  const auto start = static_cast<uint64_t>(held.span.start_ns + session_start_ns_);
  const auto end = start + static_cast<uint64_t>(held.span.duration_ns);
  if (seen_[kind]++ >= kFirst && !held.always && !windows_.Overlaps(start, end)) return;
  if (written_[kind] >= kMaxSpans) {
    ++capped_;
    return;
  }
  ++written_[kind];
  sink.Add(held.span);
}

void PythonProcess::DecideStep(const HeldStep& held, EvidenceSink& sink) {
  const StepMark& mark = held.mark;
  if (has_last_ && mark.time_ns / static_cast<int64_t>(kSecond) != last_.time_ns / static_cast<int64_t>(kSecond)) {
    WriteStep(last_, sink);
  }
  hook_ns_ += mark.hook_ns;
  last_ = mark;
  has_last_ = true;
  if (steps_seen_++ < kFirst || windows_.Overlaps(held.time_ns, held.time_ns)) WriteStep(mark, sink);
}

void PythonProcess::WriteStep(const StepMark& mark, EvidenceSink& sink) {
  StepMark out = mark;
  out.hook_ns = hook_ns_;
  hook_ns_ = 0;
  has_last_ = false;
  sink.Add(out);
}

void PythonProcess::Settle(uint64_t now_ns, EvidenceSink& sink) {
  const uint64_t border = now_ns > kHoldNs ? now_ns - kHoldNs : 0;
  for (; !held_.empty() && held_.front().time_ns <= border; held_.pop_front()) DecideSpan(held_.front(), sink);
  for (; !held_steps_.empty() && held_steps_.front().time_ns <= border; held_steps_.pop_front()) {
    DecideStep(held_steps_.front(), sink);
  }
}

void PythonProcess::Totals(double time_s, EvidenceSink& sink) const {
  const Entity process = Entity::Process(pid_);
  const auto add = [&](const char* metric, double value) { sink.Add(Sample{metric, process, time_s, value}); };
  if (has_wait_) add("process.input_wait.seconds", static_cast<double>(wait_ns_) / 1e9);
  const uint64_t steps = std::max(step_index_, train_steps_);
  if (steps > 0) add("process.steps.count", static_cast<double>(steps));
}

void PythonProcess::Finish(uint64_t dropped, uint64_t skipped, double time_s, EvidenceSink& sink) {
  Settle(~uint64_t{0}, sink);
  if (has_last_) WriteStep(last_, sink);
  Totals(time_s, sink);
  // What was never seen gets no fact: a sum of nothing is not 0 seconds.
  const auto seconds = [&](const char* name, bool seen, uint64_t ns) {
    if (seen) json_.Say(name, Value::Of(static_cast<double>(ns) / 1e9), time_s, sink);
  };
  const auto seen = [this](SpanKind kind) { return seen_[static_cast<size_t>(kind)] > 0; };
  json_.Say("ring.dropped", Count(dropped), time_s, sink);
  json_.Say("ring.unfinished", Count(skipped), time_s, sink);
  json_.Say("ring.malformed", Count(malformed_ + unknown_ + blobs_.broken() + blobs_.pending() + json_.bad_texts()),
            time_s, sink);
  json_.Say("spans.dropped", Count(capped_), time_s, sink);
  seconds("input_wait.seconds", has_wait_, wait_ns_);
  seconds("input_wait.evaluation.seconds", has_evaluation_wait_, evaluation_wait_ns_);
  seconds("collection.seconds", seen(SpanKind::kCollection), gc_ns_);
  seconds("compile.seconds", seen(SpanKind::kCompile), compile_ns_);
  seconds("checkpoint.seconds", seen(SpanKind::kCheckpoint), save_ns_);
  const uint64_t steps = std::max(step_index_, train_steps_);
  if (steps > 0) json_.Say("steps.count", Count(steps), time_s, sink);
}

}  // namespace gpuwhy::framework
