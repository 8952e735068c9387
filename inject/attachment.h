// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_ATTACHMENT_H_
#define GPUWHY_INJECT_ATTACHMENT_H_

#include <stdint.h>

#include <atomic>

#include "inject/cupti_api.h"

namespace gpuwhy::inject {

// Our subscription to CUPTI and the way out of it. cuptiFinalize is documented as safe only at the exit of a driver or
// runtime call (cupti_activity.h) and crashed elsewhere (kineto #686), so leaving means: enable all API callbacks, arm,
// and let the next API call of any thread do it.
class Attachment {
 public:
  enum class Answer { kSubscribed, kTaken, kFailed };

  void Start(const CuptiFound* found) { found_ = found; }
  // Names the holder through other() when CUPTI is taken and knows it.
  Answer Subscribe(cupti::Callback callback);
  cupti::Result error() const { return error_; }
  const char* other() const { return other_; }

  bool attached() const { return attached_.load(std::memory_order_acquire); }
  cupti::Result EnableResource(uint32_t cbid, bool on);
  // Callbacks of the calls in api_ids.h. Success if at least one id was accepted: one that this CUPTI does not know
  // cannot be called either. Else the last refusal.
  cupti::Result EnableCalls(bool on);

  // Callbacks of the calls that show CUDA graphs; a refused id is a call that this CUPTI does not know.
  void EnableGraphCalls();

  void Arm();
  bool Disarm();  // false: the detach is already running or done
  // From the callback on a job thread; true if this call detached. Without `finalise` CUPTI's instrumentation stays.
  bool OnApiExit(bool finalise);
  void Unsubscribe();  // leaves CUPTI's instrumentation in the process
  bool armed() const { return detach_.load(std::memory_order_acquire) == kArmed; }
  bool detaching() const { return detach_.load(std::memory_order_acquire) == kRunning; }
  cupti::Result finalize_result() const { return finalize_result_.load(std::memory_order_relaxed); }

 private:
  enum Detach : int { kNone, kArmed, kRunning };

  const CuptiFound* found_ = nullptr;
  cupti::Subscriber subscriber_ = nullptr;
  cupti::Result error_ = cupti::kSuccess;
  char other_[cupti::kOldNameSize + 1] = {};
  std::atomic<bool> attached_{false};
  std::atomic<int> detach_{kNone};
  std::atomic<cupti::Result> finalize_result_{cupti::kSuccess};
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_ATTACHMENT_H_
