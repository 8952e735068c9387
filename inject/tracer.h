// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_TRACER_H_
#define GPUWHY_INJECT_TRACER_H_

#include <stdint.h>

#include <atomic>

#include "inject/attachment.h"
#include "inject/buffers.h"
#include "inject/calls.h"
#include "inject/convert.h"
#include "inject/report.h"
#include "inject/ring.h"

namespace gpuwhy::inject {

struct WindowLimits {
  uint64_t ms = 0;       // 0 = none
  uint64_t records = 0;  // 0 = none
};

// One CUPTI window at a time: attach, record, flush, detach. Every method but the On* ones needs the caller's control
// lock; those run on job threads inside CUPTI and take no lock that the others hold while they wait.
class Tracer {
 public:
  void Start(Ring* ring, Reporter* reporter, const CuptiFound* found);

  // Subscribes to nothing but the creation of contexts. False: stepped aside or failed, state and gap are written.
  bool WaitForContext();
  bool Open(wire::WindowMode mode, WindowLimits limits);
  // Stops recording and starts the detach.
  void Close();
  // Stops recording for a process that is about to exit: flush only, nothing is torn down.
  void CloseAtExit();
  // Leaves CUPTI without a window, e.g. before the first context.
  void Leave();
  // Once a detach is done, or was not for 2 s: writes the end of the window. True while there is still one to write.
  bool SettleEnd(uint64_t now_ns);
  // Writes the end of the window as it stands.
  void WriteEnd();
  void Poll(uint64_t now_ns);  // looks at the limits of the open window
  void AbandonSubscription();

  bool open() const { return open_; }
  bool attached() const { return attachment_.attached(); }
  bool detaching() const { return attachment_.armed(); }
  bool more_windows() const;
  bool may_finalise() const;
  uint64_t PollIntervalNs() const;
  void SetFinalState(wire::State state);
  void AddCost(uint64_t ns) { cost_ns_.fetch_add(ns, std::memory_order_relaxed); }

  void OnContextCreated();
  void OnGraph() { converter_.SawGraph(); }
  void OnApi(uint32_t domain, uint32_t cbid, const cupti::CallbackData& data);
  uint8_t* OnBufferRequested();
  void OnBufferCompleted(uint8_t* buffer, size_t valid);

 private:
  bool Subscribe();
  bool EnableActivities(wire::WindowMode mode);
  bool Reattach();
  void DisableActivities();
  void FailOpen(wire::WindowMode mode);
  bool ProofIsOver(uint64_t now_ns);
  uint64_t Records() const { return mode_ == wire::WindowMode::kSync ? calls_.records() : converter_.records(); }
  void DetachAtExit();
  void SetClock();
  void CheckClock();
  void BeginDetach();
  void SayLeftBehind();
  void Fail(const char* step, cupti::Result result);
  void WriteBegin();
  uint64_t Dropped();

  Ring* ring_ = nullptr;
  Reporter* reporter_ = nullptr;
  const CuptiFound* found_ = nullptr;
  Attachment attachment_;
  Buffers buffers_;
  Converter converter_;
  CallRecorder calls_;

  bool open_ = false;
  bool end_due_ = false;
  wire::WindowMode mode_ = {};  // all members start as zero bytes, so that the global object costs no file space
  WindowLimits limits_;
  uint32_t window_id_ = 0;
  uint64_t begin_ns_ = 0;
  uint64_t first_record_ns_ = 0;
  uint64_t first_kernel_ns_ = 0;
  uint64_t last_sum_ns_ = 0;
  uint64_t closed_ns_ = 0;
  uint64_t dropped_ = 0;
  int64_t clock_offset_ns_ = 0;
  uint64_t clock_error_ns_ = 0;
  cupti::Result status_ = cupti::kSuccess;
  std::atomic<uint64_t> cost_ns_{0};
  std::atomic<int> final_state_{0};
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_TRACER_H_
