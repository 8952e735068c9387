// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/environment.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "inject/old_glibc.h"

extern "C" int InitializeInjection();

namespace gpuwhy::inject {
namespace {

struct Sign {
  const char* prefix;  // of the variable's name
  const char* tool;
};
// Variables that the launchers of these tools leave in the environment of what they start. NSYS_CONFIG_DIRECTIVES is a
// setting that users keep in their shell and means nothing.
constexpr Sign kSigns[] = {
    {"KINETO_USE_DAEMON=", "Kineto daemon (dynolog)"},
    {"NVTX_INJECTION64_PATH=", "a tool injected through NVTX"},
    {"NSYS_", "Nsight Systems"},
    {"QUADD_INJECTION", "Nsight Systems"},
    {"NV_NSIGHT_", "Nsight Compute"},
    {"NV_TPS_LAUNCH", "Nsight Compute"},
    {"NV_COMPUTE_PROFILER_", "Nsight Compute"},
    {"NV_SANITIZER_", "Compute Sanitizer"},
};

bool StartsWith(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

// Length of the variable's name; values may hold paths and secrets and are not passed on.
size_t NameLength(const char* variable) {
  const char* end = strchr(variable, '=');
  return end ? static_cast<size_t>(end - variable) : strlen(variable);
}

bool IsOurLibrary(const char* path) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&InitializeInjection), &info) == 0 || info.dli_fname == nullptr) return true;
  char mine[4096];
  char theirs[4096];
  if (realpath(info.dli_fname, mine) == nullptr || realpath(path, theirs) == nullptr)
    return strcmp(info.dli_fname, path) == 0;
  return strcmp(mine, theirs) == 0;
}

}  // namespace

TraceMode TraceModeFromEnvironment() {
  const char* mode = getenv("GPUWHY_TRACE");
  if (mode != nullptr && strcmp(mode, "off") == 0) return TraceMode::kOff;
  return mode != nullptr && strcmp(mode, "permanent") == 0 ? TraceMode::kPermanent : TraceMode::kWindow;
}

OtherTool FindOtherTool() {
  OtherTool tool;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (StartsWith(*variable, "NSYS_CONFIG_DIRECTIVES=")) continue;
    for (const Sign& sign : kSigns) {
      if (!StartsWith(*variable, sign.prefix)) continue;
      tool.name.Add(sign.tool);
      tool.sign.Add("environment variable ").Add(*variable, NameLength(*variable));
      return tool;
    }
  }
  const char* injection = getenv("CUDA_INJECTION64_PATH");
  if (injection != nullptr && *injection != 0 && !IsOurLibrary(injection)) {
    tool.name.Add("another CUDA injection library");
    tool.sign.Add("environment variable CUDA_INJECTION64_PATH");
  }
  return tool;
}

}  // namespace gpuwhy::inject
