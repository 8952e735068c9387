// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_FAKES_FAKE_NVML_H_
#define GPUWHY_TESTS_FAKES_FAKE_NVML_H_

#include <cstdint>

#include "nvml_script.h"
#include "witness/nvml/nvml_abi.h"

#define FAKE_API extern "C" __attribute__((visibility("default")))

// What the parts of the fake library share.
namespace fake_nvml {

using namespace gpuwhy::nvml;  // NOLINT(google-build-using-namespace): the fake implements that interface

Script& TheScript();
bool IsInitialised();
// Number of calls into the library since it was loaded; a test reads it through gpuwhyFakeNvmlCalls().
unsigned long& CallCount();
uint64_t NowUs();

// The GPU behind a handle, after the checks that every call makes: initialised, known, not lost. `lost_after = N` takes
// the GPU off the bus after N calls.
Return Enter(DeviceHandle handle, Section** out);
Return CopyText(const std::string& text, char* out, unsigned size);

template <typename Number>
Return Simple(DeviceHandle handle, const char* key, Number* out) {
  Section* gpu = nullptr;
  const Return code = Enter(handle, &gpu);
  return code == kSuccess ? gpu->One(key, out) : code;
}

}  // namespace fake_nvml

#endif  // GPUWHY_TESTS_FAKES_FAKE_NVML_H_
