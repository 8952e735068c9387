// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_CUPTI_API_H_
#define GPUWHY_INJECT_CUPTI_API_H_

#include "inject/cupti_abi.h"
#include "inject/text.h"

namespace gpuwhy::inject {

// Entry points of the CUPTI in this process. A member that may be null says so.
struct CuptiApi {
  cupti::Result (*GetVersion)(uint32_t*) = nullptr;
  cupti::Result (*Subscribe)(cupti::Subscriber*, cupti::Callback, void*) = nullptr;
  cupti::Result (*SubscribeV2)(cupti::Subscriber*, cupti::Callback, void*,
                               cupti::SubscriberParams*) = nullptr;  // null in older ones
  cupti::Result (*Unsubscribe)(cupti::Subscriber) = nullptr;
  cupti::Result (*EnableCallback)(uint32_t, cupti::Subscriber, uint32_t, uint32_t) = nullptr;
  cupti::Result (*EnableDomain)(uint32_t, cupti::Subscriber, uint32_t) = nullptr;
  cupti::Result (*RegisterCallbacks)(cupti::BufferRequested, cupti::BufferCompleted) = nullptr;
  cupti::Result (*Enable)(uint32_t) = nullptr;
  cupti::Result (*Disable)(uint32_t) = nullptr;
  cupti::Result (*FlushAll)(uint32_t) = nullptr;
  cupti::Result (*GetNextRecord)(uint8_t*, size_t, cupti::Activity**) = nullptr;
  cupti::Result (*GetNumDropped)(void*, uint32_t, size_t*) = nullptr;
  cupti::Result (*Finalize)() = nullptr;
  cupti::Result (*GetTimestamp)(uint64_t*) = nullptr;
  cupti::Result (*RegisterTimestamp)(cupti::Timestamp) = nullptr;  // null before 11.6
};

// The two driver calls made by this library, looked up in the libcuda that is already mapped.
struct DriverApi {
  int (*DriverGetVersion)(int*) = nullptr;
  int (*CtxGetCurrent)(void**) = nullptr;
};

struct CuptiFound {
  CuptiApi api;
  DriverApi driver;
  uint32_t version = 0;         // cuptiGetVersion
  int cuda_version = 0;         // CUDA release of that CUPTI, 1000 * major + 10 * minor, 0 = unknown
  int driver_cuda_version = 0;  // cuDriverGetVersion, 0 = unknown
  bool was_mapped = false;      // the job had loaded it before us
  Text<1024> path;
  Text<512> problem;  // why none is usable; empty if one is
  bool ok() const { return api.Subscribe != nullptr; }
};

// CUDA release that a CUPTI API version came with (list in cupti_version.h); 0 = not known.
int CudaVersionOfCupti(uint32_t api_version);

// Name of the package that brings a CUPTI for this driver.
Text<160> CuptiPackage(int driver_cuda_version);

// Looks for a CUPTI in the order: mapped in this process, the interpreter's own nvidia packages, CUDA_HOME, the
// loader's paths. Never loads one of a newer CUDA than the driver's.
void FindCupti(CuptiFound* found);

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_CUPTI_API_H_
