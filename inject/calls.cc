// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/calls.h"

#include "inject/api_ids.h"
#include "inject/old_glibc.h"

namespace gpuwhy::inject {
namespace {

constexpr uint64_t kShortestCopyNs = 2000;  // shorter copy calls only queue work: nothing waited for the GPU
constexpr uint32_t kMostDeferrals = 8;

// The outermost recorded call that a thread is in. A window's number makes what an earlier window left here void.
struct OpenCall {
  uint64_t start_ns;  // 0: none
  uint32_t window;
  uint32_t domain;
  uint32_t cbid;
  uint32_t deferrals;
};
thread_local OpenCall t_open = {};

bool IsSync(uint32_t domain, uint32_t cbid) {
  return domain == cupti::kDomainRuntime ? Contains(kRuntimeSync, cbid) : Contains(kDriverSync, cbid);
}

bool IsCopy(uint32_t domain, uint32_t cbid) {
  return domain == cupti::kDomainRuntime ? Contains(kRuntimeCopy, cbid) : Contains(kDriverCopy, cbid);
}

}  // namespace

void CallRecorder::Begin(uint32_t window_id) {
  records_.store(0, std::memory_order_relaxed);
  window_.store(window_id, std::memory_order_release);
  recording_.store(true, std::memory_order_release);
}

uint64_t CallRecorder::OnCall(uint32_t domain, uint32_t cbid, const cupti::CallbackData& data) {
  // Before the first sync window not even the thread's own memory is touched: its first use may allocate.
  if (data.correlation_data == nullptr || window_.load(std::memory_order_acquire) == 0) return 0;
  return data.site == cupti::kSiteExit ? OnExit(domain, cbid, data) : OnEnter(domain, cbid, data);
}

uint64_t CallRecorder::OnEnter(uint32_t domain, uint32_t cbid, const cupti::CallbackData& data) {
  if (!recording_.load(std::memory_order_acquire)) return 0;
  const uint64_t begin = MonotonicNs();
  const uint32_t window = window_.load(std::memory_order_relaxed);
  OpenCall& open = t_open;
  *data.correlation_data = 0;
  if ((open.start_ns != 0 && open.window == window) || (!IsSync(domain, cbid) && !IsCopy(domain, cbid)))
    return MonotonicNs() - begin;
  const uint64_t now = MonotonicNs();
  open = {now, window, domain, cbid, 0};
  *data.correlation_data = now;
  return now - begin;
}

// Also after the window's end, for a call that outlasts it: its start is in the window, and its exit comes because a
// detach asks for all exits. What correlation_data holds is trusted only if this thread noted the same: CUPTI does not
// promise a value for a call whose enter was not called back.
uint64_t CallRecorder::OnExit(uint32_t domain, uint32_t cbid, const cupti::CallbackData& data) {
  OpenCall& open = t_open;
  if (open.start_ns == 0 || open.window != window_.load(std::memory_order_relaxed)) return 0;
  if (open.domain != domain || open.cbid != cbid || *data.correlation_data != open.start_ns) return 0;
  const uint64_t end = MonotonicNs();
  const uint64_t start = open.start_ns;
  open.start_ns = 0;
  *data.correlation_data = 0;
  const bool sync = IsSync(domain, cbid);
  if (!sync && end - start < kShortestCopyNs) return MonotonicNs() - end;
  wire::Api record{};
  record.start_ns = start;
  record.duration_ns = end - start;
  record.cbid = cbid;
  record.domain =
      static_cast<uint16_t>(domain == cupti::kDomainRuntime ? wire::ApiDomain::kRuntime : wire::ApiDomain::kDriver);
  record.correlation = data.correlation_id;
  record.thread = ThreadId();
  record.is_sync = sync ? 1 : 0;
  ring_->Write(&record);
  records_.fetch_add(1, std::memory_order_relaxed);
  return MonotonicNs() - end;
}

bool CallRecorder::AwaitsExit() const {
  const uint32_t window = window_.load(std::memory_order_acquire);
  if (window == 0) return false;
  OpenCall& open = t_open;
  return open.start_ns != 0 && open.window == window && open.deferrals++ < kMostDeferrals;
}

}  // namespace gpuwhy::inject
