// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// What the fake driver and the fake CUPTI tell each other; the real ones use an undocumented table for it.
#ifndef GPUWHY_TESTS_FAKES_FAKE_CUDA_H_
#define GPUWHY_TESTS_FAKES_FAKE_CUDA_H_

#include <stdint.h>

enum class FakeWork { kKernel, kCopy, kMemset, kGraphKernel };

struct FakeCall {
  uint32_t domain;
  uint32_t cbid;
  uint32_t correlation;
  uint64_t* data;  // the client's 64 bits; nothing is promised about what they hold before the client writes them
};

struct FakeHooks {
  void (*api)(const FakeCall& call, int site);
  void (*context_created)();
  void (*graph_created)();
  void (*work)(FakeWork work, const char* name, uint64_t bytes);
};

extern "C" {
void fakeCudaSetHooks(const FakeHooks* hooks);  // nullptr: nobody listens
int cuInit(unsigned flags);
int cuDriverGetVersion(int* version);
int cuCtxGetCurrent(void** context);
int fakeContextCreate();
int fakeLaunch(const char* kernel);
int fakeGraphCreate();
int fakeGraphLaunch(const char* kernel);
int fakeCopy(uint64_t bytes);  // of a megabyte and more: returns after 100 us
int fakeMemset(uint64_t bytes);
int fakeSynchronize();
int fakeSynchronizeFor(unsigned ms);  // the GPU needs that long
}
#endif  // GPUWHY_TESTS_FAKES_FAKE_CUDA_H_
