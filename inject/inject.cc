// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// The exported functions, and what CUPTI calls back.
#include "inject/callbacks.h"
#include "inject/injector.h"

namespace gpuwhy::inject {
namespace {

constinit Injector g_injector;

}  // namespace

Injector* TheInjector();
Injector* TheInjector() { return &g_injector; }

void CuptiCallback(void*, uint32_t domain, uint32_t cbid, const void* data) {
  if (g_injector.silent()) return;
  if (domain == cupti::kDomainResource) {
    if (cbid == cupti::kResourceContextCreated) g_injector.OnContext();
    if (cbid == cupti::kResourceGraphCreated || cbid == cupti::kResourceGraphExecCreated) g_injector.tracer().OnGraph();
    return;
  }
  if (data != nullptr) g_injector.tracer().OnApi(domain, cbid, *static_cast<const cupti::CallbackData*>(data));
}

void CuptiBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = g_injector.silent() ? nullptr : g_injector.tracer().OnBufferRequested();
  *size = *buffer != nullptr ? Buffers::kBytes : 0;
  *max_records = 0;  // as many as fit
}

void CuptiBufferCompleted(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  if (g_injector.silent() || buffer == nullptr) return;
  g_injector.tracer().OnBufferCompleted(buffer, valid);
}

}  // namespace gpuwhy::inject

#define GPUWHY_EXPORT __attribute__((visibility("default")))

extern "C" {

// Called by the CUDA driver inside cuInit for the library named in CUDA_INJECTION64_PATH. Always 1 (success): nothing
// that goes wrong here is the job's problem.
GPUWHY_EXPORT int InitializeInjection();
int InitializeInjection() {
  gpuwhy::inject::TheInjector()->Initialize();
  return 1;
}

// Frees CUPTI for another user in this process, for ever. 0: free. 1: still held after timeout_ms.
GPUWHY_EXPORT int gpuwhy_inject_close(int timeout_ms);
int gpuwhy_inject_close(int timeout_ms) { return gpuwhy::inject::TheInjector()->CloseForEver(timeout_ms); }

// Value of enum state in wire/schema.json, or -1 if this process is not watched.
GPUWHY_EXPORT int gpuwhy_inject_state();
int gpuwhy_inject_state() { return gpuwhy::inject::TheInjector()->State(); }

}  // extern "C"
