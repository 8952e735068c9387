// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// A libcuda.so.1 without a GPU: cuInit loads CUDA_INJECTION64_PATH as the real one does, every call goes through the
// hooks of the fake CUPTI, launches only leave a record. FAKE_CUDA_VERSION sets what cuDriverGetVersion answers.
#include "fake_cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>

namespace {

std::atomic<const FakeHooks*> g_hooks{nullptr};
std::atomic<bool> g_initialised{false};
std::atomic<int> g_contexts{0};
std::atomic<uint32_t> g_correlation{0};

uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000U + static_cast<uint64_t>(now.tv_nsec);
}

void SleepUs(long us) {
  const timespec nap{us / 1000000, us % 1000000 * 1000};
  nanosleep(&nap, nullptr);
}

// Enter and exit of one API call, as CUPTI sees it.
class Call {
 public:
  Call(uint32_t domain, uint32_t cbid) : call_{domain, cbid, ++g_correlation, &data_} { Tell(0); }
  ~Call() { Tell(1); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  void Tell(int site) const {
    if (const FakeHooks* hooks = g_hooks.load()) hooks->api(call_, site);
  }
  uint64_t data_ = NowNs() - 3'000'000'000U;  // the worst of all leftovers: a plausible time
  FakeCall call_;
};

int Work(FakeWork work, const char* name, uint64_t bytes, uint32_t cbid) {
  Call call(2, cbid);
  if (const FakeHooks* hooks = g_hooks.load()) hooks->work(work, name, bytes);
  return 0;
}

}  // namespace

extern "C" {

void fakeCudaSetHooks(const FakeHooks* hooks) { g_hooks.store(hooks); }

int cuInit(unsigned) {
  if (g_initialised.exchange(true)) return 0;
  const char* path = getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return 0;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 0;
  auto* initialise = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  return initialise != nullptr && initialise() == 0 ? 999 : 0;
}

int cuDriverGetVersion(int* version) {
  const char* value = getenv("FAKE_CUDA_VERSION");
  *version = value != nullptr ? atoi(value) : 13000;
  return 0;
}

int cuCtxGetCurrent(void** context) {
  Call call(1, 304);
  *context = g_contexts.load() != 0 ? &g_contexts : nullptr;
  return 0;
}

int fakeContextCreate() {
  Call call(1, 222);
  ++g_contexts;
  if (const FakeHooks* hooks = g_hooks.load()) hooks->context_created();
  return 0;
}

int fakeLaunch(const char* kernel) { return Work(FakeWork::kKernel, kernel, 0, 211); }
int fakeGraphLaunch(const char* kernel) { return Work(FakeWork::kGraphKernel, kernel, 0, 311); }
int fakeCopy(uint64_t bytes) {
  Call call(2, 41);
  Call inner(1, 277);
  if (bytes >= 1 << 20) SleepUs(100);
  if (const FakeHooks* hooks = g_hooks.load()) hooks->work(FakeWork::kCopy, nullptr, bytes);
  return 0;
}
int fakeMemset(uint64_t bytes) { return Work(FakeWork::kMemset, nullptr, bytes, 51); }

int fakeGraphCreate() {
  Call call(2, 304);
  if (const FakeHooks* hooks = g_hooks.load()) hooks->graph_created();
  return 0;
}

int fakeSynchronize() {
  Call call(2, 131);
  Call inner(1, 126);
  return 0;
}

int fakeSynchronizeFor(unsigned ms) {
  Call call(2, 165);
  Call inner(1, 17);
  SleepUs(ms * 1000L);
  return 0;
}

}  // extern "C"
