// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/cuda/cuda_names.h"

#include <cxxabi.h>
#include <stdlib.h>

#include <array>

#include "base/format.h"

namespace gpuwhy::cuda {
namespace {

constexpr size_t kMaxName = 200;

struct ApiRow {
  wire::ApiDomain domain;
  uint32_t cbid;
  std::string_view name;
};

constexpr wire::ApiDomain kDriver = wire::ApiDomain::kDriver, kRuntime = wire::ApiDomain::kRuntime;

// The calls that the library records, by their numbers in cupti_driver_cbid.h and cupti_runtime_cbid.h of CUDA 13.0.
// Per-thread-stream forms carry the plain name.
constexpr ApiRow kApis[] = {
    {kDriver, 17, "cuCtxSynchronize"},
    {kDriver, 121, "cuEventSynchronize"},
    {kDriver, 126, "cuStreamSynchronize"},
    {kDriver, 276, "cuMemcpyHtoD"},
    {kDriver, 277, "cuMemcpyHtoDAsync"},
    {kDriver, 278, "cuMemcpyDtoH"},
    {kDriver, 279, "cuMemcpyDtoHAsync"},
    {kDriver, 280, "cuMemcpyDtoD"},
    {kDriver, 281, "cuMemcpyDtoDAsync"},
    {kDriver, 287, "cuMemcpy2D"},
    {kDriver, 288, "cuMemcpy2DUnaligned"},
    {kDriver, 289, "cuMemcpy2DAsync"},
    {kDriver, 290, "cuMemcpy3D"},
    {kDriver, 291, "cuMemcpy3DAsync"},
    {kDriver, 305, "cuMemcpy"},
    {kDriver, 306, "cuMemcpyAsync"},
    {kDriver, 318, "cuMemcpyPeer"},
    {kDriver, 319, "cuMemcpyPeerAsync"},
    {kDriver, 397, "cuMemcpyHtoD"},
    {kDriver, 398, "cuMemcpyDtoH"},
    {kDriver, 399, "cuMemcpyDtoD"},
    {kDriver, 405, "cuMemcpy2D"},
    {kDriver, 407, "cuMemcpy3D"},
    {kDriver, 408, "cuMemcpy"},
    {kDriver, 418, "cuMemcpyAsync"},
    {kDriver, 421, "cuMemcpyHtoDAsync"},
    {kDriver, 422, "cuMemcpyDtoHAsync"},
    {kDriver, 423, "cuMemcpyDtoDAsync"},
    {kDriver, 424, "cuMemcpy2DAsync"},
    {kDriver, 425, "cuMemcpy3DAsync"},
    {kDriver, 426, "cuMemcpyPeerAsync"},
    {kDriver, 440, "cuStreamSynchronize"},
    {kDriver, 776, "cuMemcpyBatchAsync"},
    {kDriver, 777, "cuMemcpyBatchAsync"},
    {kDriver, 796, "cuMemcpyBatchAsync"},
    {kDriver, 797, "cuMemcpyBatchAsync"},
    {kDriver, 800, "cuCtxSynchronize"},
    {kRuntime, 31, "cudaMemcpy"},
    {kRuntime, 32, "cudaMemcpy2D"},
    {kRuntime, 39, "cudaMemcpyToSymbol"},
    {kRuntime, 40, "cudaMemcpyFromSymbol"},
    {kRuntime, 41, "cudaMemcpyAsync"},
    {kRuntime, 44, "cudaMemcpy2DAsync"},
    {kRuntime, 47, "cudaMemcpyToSymbolAsync"},
    {kRuntime, 48, "cudaMemcpyFromSymbolAsync"},
    {kRuntime, 126, "cudaThreadSynchronize"},
    {kRuntime, 131, "cudaStreamSynchronize"},
    {kRuntime, 137, "cudaEventSynchronize"},
    {kRuntime, 144, "cudaMemcpy3D"},
    {kRuntime, 145, "cudaMemcpy3DAsync"},
    {kRuntime, 160, "cudaMemcpyPeer"},
    {kRuntime, 161, "cudaMemcpyPeerAsync"},
    {kRuntime, 165, "cudaDeviceSynchronize"},
    {kRuntime, 215, "cudaMemcpy"},
    {kRuntime, 216, "cudaMemcpy2D"},
    {kRuntime, 223, "cudaMemcpyToSymbol"},
    {kRuntime, 224, "cudaMemcpyFromSymbol"},
    {kRuntime, 225, "cudaMemcpyAsync"},
    {kRuntime, 228, "cudaMemcpy2DAsync"},
    {kRuntime, 231, "cudaMemcpyToSymbolAsync"},
    {kRuntime, 232, "cudaMemcpyFromSymbolAsync"},
    {kRuntime, 239, "cudaStreamSynchronize"},
    {kRuntime, 245, "cudaMemcpy3D"},
    {kRuntime, 246, "cudaMemcpy3DAsync"},
    {kRuntime, 482, "cudaMemcpyBatchAsync"},
    {kRuntime, 483, "cudaMemcpyBatchAsync"},
    {kRuntime, 509, "cudaMemcpyBatchAsync"},
    {kRuntime, 510, "cudaMemcpyBatchAsync"},
};

}  // namespace

std::string KernelName(const std::string& raw) {
  std::string name = raw;
  if (raw.rfind("_Z", 0) == 0) {
    int status = 0;
    char* const text = abi::__cxa_demangle(raw.c_str(), nullptr, nullptr, &status);
    if (text != nullptr && status == 0) name = text;
    free(text);
  }
  if (name.size() <= kMaxName) return name;
  // Never in the middle of a character: sessions are UTF-8.
  size_t end = kMaxName - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end) + "...";
}

std::string ApiName(uint16_t domain, uint32_t cbid) {
  for (const ApiRow& row : kApis) {
    if (static_cast<uint32_t>(row.domain) == domain && row.cbid == cbid) return std::string(row.name);
  }
  return Format("{} call {}", domain == static_cast<uint16_t>(kDriver) ? "driver" : "runtime", cbid);
}

std::string_view StateText(wire::State state) {
  constexpr std::array<std::string_view, 10> kNames = {
      "idle", "proof", "timing", "sync", "permanent", "detaching", "detached", "stepped_aside", "failed", "lease_lost"};
  const auto index = static_cast<size_t>(state);
  return index < kNames.size() ? kNames[index] : "unknown";
}

}  // namespace gpuwhy::cuda
