// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_API_IDS_H_
#define GPUWHY_INJECT_API_IDS_H_

#include <stdint.h>

// Calls recorded in a sync window, by their callback ids in cupti_runtime_cbid.h and cupti_driver_cbid.h (CUDA 13.0;
// ids are never reused). Launches are left out on purpose: recording every call costs 47 % of a launch-bound job.
namespace gpuwhy::inject {

// cudaThreadSynchronize, cudaStreamSynchronize, cudaEventSynchronize, cudaDeviceSynchronize, cudaStreamSynchronize_ptsz
inline constexpr uint32_t kRuntimeSync[] = {126, 131, 137, 165, 239};
// cudaMemcpy, 2D, ToSymbol, FromSymbol, Async, 2DAsync, ToSymbolAsync, FromSymbolAsync, 3D, 3DAsync, Peer, PeerAsync,
// then the per-thread-stream forms and the batched copies of 12.8 and 13.0
inline constexpr uint32_t kRuntimeCopy[] = {31,  32,  39,  40,  41,  44,  47,  48,  144, 145, 160, 161, 215,
                                            216, 223, 224, 225, 228, 231, 232, 245, 246, 482, 483, 509, 510};
// cuCtxSynchronize, cuEventSynchronize, cuStreamSynchronize, cuStreamSynchronize_ptsz, cuCtxSynchronize_v2
inline constexpr uint32_t kDriverSync[] = {17, 121, 126, 440, 800};
// cuMemcpy{HtoD,HtoDAsync,DtoH,DtoHAsync,DtoD,DtoDAsync}_v2, 2D/3D forms, cuMemcpy(Async), peers, _ptds/_ptsz, batched
inline constexpr uint32_t kDriverCopy[] = {276, 277, 278, 279, 280, 281, 287, 288, 289, 290, 291,
                                           305, 306, 318, 319, 397, 398, 399, 405, 407, 408, 418,
                                           421, 422, 423, 424, 425, 426, 776, 777, 796, 797};

// Calls that show that the process uses CUDA graphs: begin of a capture, instantiation, launch (runtime, driver).
inline constexpr uint32_t kRuntimeGraph[] = {310, 311, 312, 315, 316, 418, 436, 437, 443, 452, 453};
inline constexpr uint32_t kDriverGraph[] = {495, 496, 513, 514, 515, 539, 540, 578, 643, 656, 657, 720, 721};

template <class List>
constexpr bool Contains(const List& list, uint32_t id) {
  for (uint32_t item : list) {
    if (item == id) return true;
  }
  return false;
}

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_API_IDS_H_
