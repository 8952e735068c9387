// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// A libcupti.so without a GPU that is stricter than the real one: every use that the headers forbid, or that is known
// to crash, becomes a "violation" line in the file named by FAKE_CUPTI_LOG, beside a line for each step of a client's
// life.
//
// Built several times: FAKE_CUPTI_VERSION is the API version, FAKE_CUPTI_OLD leaves out what 11.x lacks,
// FAKE_CUPTI_BROKEN leaves out cuptiFinalize. At run time: FAKE_CUPTI_REFUSE=NAME refuses a subscriber because of NAME,
// FAKE_CUPTI_FAIL_ENABLE=CODE fails cuptiActivityEnable, FAKE_CUPTI_GARBAGE=1 mixes damaged records in,
// FAKE_CUPTI_REFUSE_CALLS=1 refuses callbacks of single API calls.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "fake_cuda.h"
#include "fake_cupti_version.h"
#include "inject/cupti_abi.h"

namespace {

using fake_cupti::Foreign;
using fake_cupti::Ids;
using fake_cupti::kTail;
using fake_cupti::Log;
using fake_cupti::RecordBytes;
using fake_cupti::Violation;
using gpuwhy::cupti::Activity;
using gpuwhy::cupti::BufferCompleted;
using gpuwhy::cupti::BufferRequested;
using gpuwhy::cupti::Callback;
using gpuwhy::cupti::CallbackData;
using gpuwhy::cupti::kDomainDriver;
using gpuwhy::cupti::kDomainResource;
using gpuwhy::cupti::kDomainRuntime;
using gpuwhy::cupti::Kernel;
using gpuwhy::cupti::kKindConcurrentKernel;
using gpuwhy::cupti::kKindKernel;
using gpuwhy::cupti::kKindMemcpy;
using gpuwhy::cupti::kKindMemset;
using gpuwhy::cupti::kMaxLimitReached;
using gpuwhy::cupti::kMultipleSubscribers;
using gpuwhy::cupti::kResourceContextCreated;
using gpuwhy::cupti::kResourceGraphCreated;
using gpuwhy::cupti::kSiteExit;
using gpuwhy::cupti::kSuccess;
using gpuwhy::cupti::Memcpy;
using gpuwhy::cupti::Memset;
using gpuwhy::cupti::Result;
using gpuwhy::cupti::Subscriber;
using gpuwhy::cupti::SubscriberParams;
using gpuwhy::cupti::Timestamp;

struct State {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  Callback callback = nullptr;
  uint64_t generation = 0;  // of the subscriber handle; a stale one is a violation
  bool subscribed = false;
  bool calls[2][1024] = {};  // by domain and callback id
  uint64_t resources = 0;
  uint64_t kinds = 0;
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  Timestamp timestamp = nullptr;
  uint8_t* buffer = nullptr;
  size_t size = 0;
  size_t used = 0;
  size_t dropped = 0;
  uint32_t correlation = 0;

  bool* Calls(uint32_t domain) { return calls[domain == kDomainDriver ? 0 : 1]; }
  void NoCalls() { memset(calls, 0, sizeof(calls)); }
};

State g;
thread_local bool t_at_exit = false;  // inside the exit callback of an API call

struct Guard {
  Guard() { pthread_mutex_lock(&g.lock); }
  ~Guard() { pthread_mutex_unlock(&g.lock); }
};

uint64_t NowNs() {
  if (g.timestamp != nullptr) return g.timestamp();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000U + static_cast<uint64_t>(now.tv_nsec);
}

// Hands the current buffer back; called with the lock, which it gives up for the client's callback.
void Complete() {
  if (g.buffer == nullptr) return;
  uint8_t* buffer = g.buffer;
  const size_t size = g.size;
  const size_t used = g.used;
  const BufferCompleted completed = g.completed;
  g.buffer = nullptr;
  pthread_mutex_unlock(&g.lock);
  completed(nullptr, 0, buffer, size, used);
  pthread_mutex_lock(&g.lock);
}

void Append(const void* record, size_t bytes) {
  if (g.requested == nullptr) return;
  if (g.buffer != nullptr && g.used + bytes > g.size) {
    Complete();
    if (g.kinds == 0) return;  // the client disabled everything while the lock was free
  }
  if (g.buffer == nullptr) {
    uint8_t* buffer = nullptr;
    size_t size = 0;
    size_t most = 0;
    g.requested(&buffer, &size, &most);
    if (buffer == nullptr || size < bytes) {
      ++g.dropped;
      return;
    }
    g.buffer = buffer;
    g.size = size;
    g.used = 0;
  }
  memcpy(g.buffer + g.used, record, bytes);
  memset(g.buffer + g.used + bytes - kTail, 0xee, kTail);
  g.used += bytes;
}

template <class Record>
void AppendRecord(const Record& record) {
  alignas(8) uint8_t bytes[sizeof(Record) + kTail] = {};
  memcpy(bytes, &record, sizeof(Record));
  Append(bytes, sizeof(bytes));
}

bool On(uint32_t kind) { return (g.kinds >> kind & 1) != 0; }

void AppendGarbage() {
  Kernel backwards{};
  backwards.kind = kKindConcurrentKernel;
  backwards.start = 2000;
  backwards.end = 1000;
  AppendRecord(backwards);
  Kernel nameless{};
  nameless.kind = kKindConcurrentKernel;
  nameless.start = NowNs();
  nameless.end = nameless.start + 5;
  nameless.device_id = 0xffffffff;
  nameless.grid_x = -1;
  AppendRecord(nameless);
  AppendRecord(Foreign{});
}

Kernel NewKernel(uint64_t now, const char* name, bool in_graph) {
  Kernel kernel{};
  kernel.kind = kKindConcurrentKernel;
  kernel.start = now;
  kernel.end = now + 1500;
  kernel.grid_x = 4;
  kernel.grid_y = kernel.grid_z = 1;
  kernel.block_x = 128;
  kernel.block_y = kernel.block_z = 1;
  kernel.device_id = 1;
  kernel.stream_id = 7;
  kernel.correlation_id = g.correlation;
  kernel.name = name;
  kernel.graph_node_id = in_graph ? 77 : 0;
  kernel.graph_id = FAKE_CUPTI_VERSION < 14 ? 0xeeeeeeee : (in_graph ? 3 : 0);
  return kernel;
}

void OnWork(FakeWork work, const char* name, uint64_t bytes) {
  Guard guard;
  const uint64_t now = NowNs();
  ++g.correlation;
  if (work == FakeWork::kKernel || work == FakeWork::kGraphKernel) {
    if (!On(kKindConcurrentKernel)) return;
    AppendRecord(NewKernel(now, name, work == FakeWork::kGraphKernel));
    if (getenv("FAKE_CUPTI_GARBAGE") != nullptr) AppendGarbage();
  } else if (work == FakeWork::kCopy && On(kKindMemcpy)) {
    Memcpy copy{};
    copy.kind = kKindMemcpy;
    copy.copy_kind = 1;
    copy.src_kind = 1;
    copy.dst_kind = 3;
    copy.bytes = bytes;
    copy.start = now;
    copy.end = now + 900;
    copy.correlation_id = g.correlation;
    AppendRecord(copy);
  } else if (work == FakeWork::kMemset && On(kKindMemset)) {
    Memset memset_record{};
    memset_record.kind = kKindMemset;
    memset_record.bytes = bytes;
    memset_record.memory_kind = 3;
    memset_record.start = now;
    memset_record.end = now + 100;
    AppendRecord(memset_record);
  }
}

void OnApi(const FakeCall& call, int site) {
  pthread_mutex_lock(&g.lock);
  const bool wanted = g.subscribed && g.Calls(call.domain)[call.cbid];
  const Callback callback = g.callback;
  pthread_mutex_unlock(&g.lock);
  if (!wanted) return;
  CallbackData data{};
  data.site = site;
  data.correlation_data = call.data;
  data.correlation_id = call.correlation;
  t_at_exit = site == kSiteExit;
  callback(nullptr, call.domain, call.cbid, &data);
  t_at_exit = false;
}

void Resource(uint32_t cbid) {
  pthread_mutex_lock(&g.lock);
  const bool wanted = g.subscribed && (g.resources >> cbid & 1) != 0;
  const Callback callback = g.callback;
  pthread_mutex_unlock(&g.lock);
  if (wanted) callback(nullptr, kDomainResource, cbid, nullptr);
}

void OnContextCreated() { Resource(kResourceContextCreated); }
void OnGraphCreated() { Resource(kResourceGraphCreated); }

constexpr FakeHooks kHooks = {&OnApi, &OnContextCreated, &OnGraphCreated, &OnWork};

void SetHooks(const FakeHooks* hooks) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return;
  auto* set = reinterpret_cast<decltype(&fakeCudaSetHooks)>(dlsym(driver, "fakeCudaSetHooks"));
  if (set != nullptr) set(hooks);
}

bool Current(Subscriber subscriber, const char* who) {
  if (g.subscribed && reinterpret_cast<uintptr_t>(subscriber) == g.generation) return true;
  Violation(who);
  return false;
}

Result SubscribeAny(Subscriber* subscriber, Callback callback) {
  Guard guard;
  if (getenv("FAKE_CUPTI_REFUSE") != nullptr || g.subscribed) {
    Log("refused");
    return kMultipleSubscribers;
  }
  g.subscribed = true;
  g.callback = callback;
  *subscriber = reinterpret_cast<Subscriber>(static_cast<uintptr_t>(++g.generation));
  SetHooks(&kHooks);
  Log("subscribe");
  return kSuccess;
}

}  // namespace

extern "C" {

Result cuptiGetVersion(uint32_t* version) {
  *version = FAKE_CUPTI_VERSION;
  return kSuccess;
}

Result cuptiSubscribe(Subscriber* subscriber, Callback callback, void*) { return SubscribeAny(subscriber, callback); }

#ifndef FAKE_CUPTI_OLD
Result cuptiSubscribe_v2(Subscriber* subscriber, Callback callback, void*, SubscriberParams* params) {
  const char* other = getenv("FAKE_CUPTI_REFUSE");
  const Result result = SubscribeAny(subscriber, callback);
  if (params->struct_size != sizeof(SubscriberParams)) Violation("struct size of the subscriber parameters");
  if (result != kSuccess && params->old_subscriber_name != nullptr) {
    snprintf(params->old_subscriber_name, params->old_subscriber_size, "%s",
             other != nullptr ? other : "CUPTI for somebody");
  }
  return result;
}

Result cuptiActivityRegisterTimestampCallback(Timestamp timestamp) {
  Guard guard;
  if (g.kinds != 0) Violation("timestamp callback after an activity was enabled");
  g.timestamp = timestamp;
  return kSuccess;
}
#endif

Result cuptiUnsubscribe(Subscriber subscriber) {
  Guard guard;
  if (!Current(subscriber, "unsubscribe with a stale handle")) return 1;
  g.subscribed = false;
  g.NoCalls();
  g.resources = 0;
  Log("unsubscribe");
  return kSuccess;
}

Result cuptiEnableCallback(uint32_t enable, Subscriber subscriber, uint32_t domain, uint32_t cbid) {
  Guard guard;
  if (!Current(subscriber, "cuptiEnableCallback with a stale handle")) return 1;
  if (domain == kDomainDriver || domain == kDomainRuntime) {
    if (cbid >= Ids(domain) || getenv("FAKE_CUPTI_REFUSE_CALLS") != nullptr) return 1;
    g.Calls(domain)[cbid] = enable != 0;
    return kSuccess;
  }
  if (domain != kDomainResource) return 1;
  g.resources = enable != 0 ? g.resources | (uint64_t{1} << cbid) : g.resources & ~(uint64_t{1} << cbid);
  return kSuccess;
}

Result cuptiEnableDomain(uint32_t enable, Subscriber subscriber, uint32_t domain) {
  Guard guard;
  if (!Current(subscriber, "cuptiEnableDomain with a stale handle")) return 1;
  if (domain != kDomainDriver && domain != kDomainRuntime) return 1;
  for (uint32_t cbid = 0; cbid < Ids(domain); ++cbid) g.Calls(domain)[cbid] = enable != 0;
  return kSuccess;
}

Result cuptiActivityRegisterCallbacks(BufferRequested requested, BufferCompleted completed) {
  Guard guard;
  if (!g.subscribed) Violation("activity callbacks before the subscription");
  g.requested = requested;
  g.completed = completed;
  return kSuccess;
}

Result cuptiActivityEnable(uint32_t kind) {
  Guard guard;
  if (const char* code = getenv("FAKE_CUPTI_FAIL_ENABLE")) return atoi(code);
  if (g.requested == nullptr) Violation("activity enabled before the buffer callbacks");
  if (kind == kKindKernel) Violation("KERNEL serialises the GPU");
  g.kinds |= uint64_t{1} << kind;
  char line[32];
  snprintf(line, sizeof(line), "enable %u", kind);
  Log(line);
  return kSuccess;
}

Result cuptiActivityDisable(uint32_t kind) {
  Guard guard;
  g.kinds &= ~(uint64_t{1} << kind);
  return kSuccess;
}

Result cuptiActivityFlushAll(uint32_t) {
  Guard guard;
  Complete();
  return kSuccess;
}

Result cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, Activity** record) {
  size_t at = 0;
  if (*record != nullptr) {
    const auto* last = reinterpret_cast<const uint8_t*>(*record);
    const size_t bytes = RecordBytes((*record)->kind);
    if (bytes == 0) return 21;  // CUPTI_ERROR_INVALID_KIND
    at = static_cast<size_t>(last - buffer) + bytes + kTail;
  }
  if (at >= valid) return kMaxLimitReached;
  *record = reinterpret_cast<Activity*>(buffer + at);
  return kSuccess;
}

Result cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  Guard guard;
  *dropped = g.dropped;
  g.dropped = 0;
  return kSuccess;
}

Result cuptiGetTimestamp(uint64_t* timestamp) {
  *timestamp = NowNs();
  return kSuccess;
}

#ifndef FAKE_CUPTI_BROKEN
Result cuptiFinalize() {
  Guard guard;
  if (!t_at_exit) Violation("cuptiFinalize outside the exit of an API call");
  if (g.kinds != 0) Violation("cuptiFinalize with activities enabled");
  if (g.buffer != nullptr) Violation("cuptiFinalize with a buffer not flushed");
  SetHooks(nullptr);
  g.subscribed = false;
  g.NoCalls();
  g.requested = nullptr;
  g.timestamp = nullptr;
  ++g.generation;
  Log("finalize");
  return kSuccess;
}
#endif

}  // extern "C"
