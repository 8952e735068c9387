// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_CALLS_H_
#define GPUWHY_INJECT_CALLS_H_

#include <stdint.h>

#include <atomic>

#include "inject/cupti_abi.h"
#include "inject/ring.h"

namespace gpuwhy::inject {

// Synchronising and copying calls of a sync window, timed between CUPTI's enter and exit callbacks on the job's
// threads: no lock, no allocation. A runtime call that calls the driver is one record, that of the runtime call.
class CallRecorder {
 public:
  void Start(Ring* ring) { ring_ = ring; }
  void Begin(uint32_t window_id);  // not 0
  void End() { recording_.store(false, std::memory_order_release); }
  uint64_t records() const { return records_.load(std::memory_order_relaxed); }

  // Any API callback. Answers the nanoseconds that the job's thread spent here.
  uint64_t OnCall(uint32_t domain, uint32_t cbid, const cupti::CallbackData& data);
  // True while this thread is inside a call that is still to be recorded, so that a detach should wait for its exit.
  // Says so a few times only: if that exit never comes, the detach must not wait for ever.
  bool AwaitsExit() const;

 private:
  uint64_t OnEnter(uint32_t domain, uint32_t cbid, const cupti::CallbackData& data);
  uint64_t OnExit(uint32_t domain, uint32_t cbid, const cupti::CallbackData& data);

  Ring* ring_ = nullptr;
  std::atomic<bool> recording_{false};
  std::atomic<uint32_t> window_{0};  // of the last sync window; 0 before the first
  std::atomic<uint64_t> records_{0};
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_CALLS_H_
