// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_FRAMEWORK_PYTHON_PROCESS_H_
#define GPUWHY_WITNESS_FRAMEWORK_PYTHON_PROCESS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "model/evidence.h"
#include "wire/blob_assembler.h"
#include "wire/ring_reader.h"
#include "witness/agent_json.h"
#include "witness/framework/windows.h"

namespace gpuwhy::framework {

// Turns the records of one Python process into evidence. Sessions stay small and joins stay exact: written are the
// first 200 marks and spans of each kind, every one that touches a window of the CUDA library, the last step of each
// second and the very last one. Totals travel in the step marks and in counters, so what is thinned out is lost to no
// sum.
class PythonProcess {
 public:
  static constexpr uint64_t kFirst = 200;
  // The window records of the other ring may be read a little later than ours: nothing is decided before this age.
  static constexpr uint64_t kHoldNs = 3'000'000'000;
  static constexpr size_t kMaxHeld = 40'000;       // what a process writes in 3 s at most, see SPACING_NS of the agent
  static constexpr uint64_t kMaxSpans = 20'000;    // of one kind in a session
  static constexpr uint64_t kLongNs = 10'000'000;  // collections and compilations from here on are always written
  static constexpr uint64_t kMaxHostSamples = 20'000;

  PythonProcess(int64_t pid, int64_t session_start_ns);

  void Take(const wire::Common& record, EvidenceSink& sink);
  // A window record of the CUDA ring of the same process.
  void TakeWindow(const wire::Window& record) { windows_.Add(record); }
  // Decides about what is old enough; at the end about all, with the last mark and the counts of what is missing.
  void Settle(uint64_t now_ns, EvidenceSink& sink);
  void Finish(uint64_t dropped, uint64_t skipped, double time_s, EvidenceSink& sink);
  // One reading of each counter.
  void Totals(double time_s, EvidenceSink& sink) const;

  AgentJson& json() { return json_; }
  const Windows& windows() const { return windows_; }
  bool user_profiler_seen() const { return user_profiler_seen_; }
  uint64_t first_train_call_ns() const { return first_train_call_ns_; }

 private:
  static constexpr size_t kKinds = static_cast<size_t>(SpanKind::kWindow) + 1;

  struct Held {
    uint64_t time_ns = 0;  // when the record was written
    Span span;
    bool always = false;
  };
  struct HeldStep {
    uint64_t time_ns = 0;
    StepMark mark;
  };

  void TakeDuration(const wire::Common& record, EvidenceSink& sink);
  void TakeBlob(const wire::Blob& piece, double time_s, EvidenceSink& sink);
  void TakeWait(const wire::Common& record, EvidenceSink& sink);
  void TakeTrainCall(const wire::Common& record, EvidenceSink& sink);
  void TakeMemory(const wire::Memory& record, double time_s, EvidenceSink& sink);
  void TakeStep(const wire::Step& record, EvidenceSink& sink);
  void TakeProfiler(const wire::Profiler& record, double time_s, EvidenceSink& sink);
  void TakeHostSample(const wire::HostSample& record, EvidenceSink& sink);
  // A span from two words of a record; false (and counted) when they make no sense.
  bool MakeSpan(SpanKind kind, const wire::Common& record, uint64_t start_ns, uint64_t duration_ns, Span* out);
  void Hold(const wire::Common& record, const Span& span, bool always, EvidenceSink& sink);
  void DecideSpan(const Held& held, EvidenceSink& sink);
  void DecideStep(const HeldStep& held, EvidenceSink& sink);
  void WriteStep(const StepMark& mark, EvidenceSink& sink);
  double Seconds(uint64_t time_ns) const;
  uint32_t Name(uint32_t blob) const;

  int64_t pid_;
  int64_t session_start_ns_;
  AgentJson json_;
  wire::BlobAssembler blobs_;
  std::map<uint32_t, uint32_t> names_;     // blob id -> interned name
  std::map<uint32_t, std::string> texts_;  // names of profilers
  Windows windows_;
  std::deque<Held> held_;
  std::deque<HeldStep> held_steps_;
  std::array<uint64_t, kKinds> seen_{};
  std::array<uint64_t, kKinds> written_{};
  uint64_t steps_seen_ = 0;
  bool has_last_ = false;
  StepMark last_;         // decided, not written: perhaps the last of its second
  uint64_t hook_ns_ = 0;  // of the marks since the last written one
  uint64_t wait_ns_ = 0, evaluation_wait_ns_ = 0, gc_ns_ = 0, compile_ns_ = 0, save_ns_ = 0;
  bool has_wait_ = false, has_evaluation_wait_ = false;
  uint64_t step_index_ = 0, train_steps_ = 0;
  int memory_device_ = -1;
  uint64_t host_samples_ = 0, capped_ = 0, malformed_ = 0, unknown_ = 0;
  bool user_profiler_seen_ = false;
  uint64_t first_train_call_ns_ = 0;
};

}  // namespace gpuwhy::framework

#endif  // GPUWHY_WITNESS_FRAMEWORK_PYTHON_PROCESS_H_
