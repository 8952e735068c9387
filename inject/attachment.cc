// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/attachment.h"

#include <string.h>

#include "inject/api_ids.h"

namespace gpuwhy::inject {

Attachment::Answer Attachment::Subscribe(cupti::Callback callback) {
  const CuptiApi& api = found_->api;
  memset(other_, 0, sizeof(other_));
  if (api.SubscribeV2 != nullptr) {
    cupti::SubscriberParams params{sizeof(params), "gpuwhy", other_, cupti::kOldNameSize};
    error_ = api.SubscribeV2(&subscriber_, callback, nullptr, &params);
  } else {
    error_ = api.Subscribe(&subscriber_, callback, nullptr);
  }
  if (error_ == cupti::kSuccess) {
    detach_.store(kNone, std::memory_order_release);
    attached_.store(true, std::memory_order_release);
    return Answer::kSubscribed;
  }
  // 11.0 still answered MAX_LIMIT_REACHED where newer ones say MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED.
  const bool taken = error_ == cupti::kMultipleSubscribers || error_ == cupti::kMaxLimitReached;
  return taken ? Answer::kTaken : Answer::kFailed;
}

cupti::Result Attachment::EnableResource(uint32_t cbid, bool on) {
  return found_->api.EnableCallback(on ? 1 : 0, subscriber_, cupti::kDomainResource, cbid);
}

cupti::Result Attachment::EnableCalls(bool on) {
  cupti::Result refusal = cupti::kSuccess;
  bool any = false;
  const auto enable = [&](uint32_t domain, const auto& ids) {
    for (const uint32_t id : ids) {
      const cupti::Result result = found_->api.EnableCallback(on ? 1 : 0, subscriber_, domain, id);
      any = any || result == cupti::kSuccess;
      if (result != cupti::kSuccess) refusal = result;
    }
  };
  enable(cupti::kDomainRuntime, kRuntimeSync);
  enable(cupti::kDomainRuntime, kRuntimeCopy);
  enable(cupti::kDomainDriver, kDriverSync);
  enable(cupti::kDomainDriver, kDriverCopy);
  return any ? cupti::kSuccess : refusal;
}

void Attachment::EnableGraphCalls() {
  for (const uint32_t id : kRuntimeGraph) found_->api.EnableCallback(1, subscriber_, cupti::kDomainRuntime, id);
  for (const uint32_t id : kDriverGraph) found_->api.EnableCallback(1, subscriber_, cupti::kDomainDriver, id);
}

void Attachment::Arm() {
  if (!attached()) return;
  found_->api.EnableDomain(1, subscriber_, cupti::kDomainRuntime);
  found_->api.EnableDomain(1, subscriber_, cupti::kDomainDriver);
  // Armed last: from here on any thread may finalise, and a CUPTI call after that would initialise CUPTI anew.
  detach_.store(kArmed, std::memory_order_release);
}

bool Attachment::Disarm() {
  int expected = kArmed;
  if (!detach_.compare_exchange_strong(expected, kNone, std::memory_order_acq_rel)) return false;
  found_->api.EnableDomain(0, subscriber_, cupti::kDomainRuntime);
  found_->api.EnableDomain(0, subscriber_, cupti::kDomainDriver);
  return true;
}

bool Attachment::OnApiExit(bool finalise) {
  int expected = kArmed;
  if (!detach_.compare_exchange_strong(expected, kRunning, std::memory_order_acq_rel)) return false;
  // The order in which kineto leaves, at the same place.
  found_->api.Unsubscribe(subscriber_);
  if (finalise) finalize_result_.store(found_->api.Finalize(), std::memory_order_relaxed);
  attached_.store(false, std::memory_order_release);
  detach_.store(kNone, std::memory_order_release);
  return true;
}

void Attachment::Unsubscribe() {
  int expected = kNone;
  const bool was_armed = armed();
  if (was_armed && !Disarm()) return;
  if (!detach_.compare_exchange_strong(expected, kRunning, std::memory_order_acq_rel)) return;
  if (attached()) found_->api.Unsubscribe(subscriber_);
  attached_.store(false, std::memory_order_release);
  detach_.store(kNone, std::memory_order_release);
}

}  // namespace gpuwhy::inject
