// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "witness/os/proc_linux.h"

namespace gpuwhy::os {
namespace {

// Beginnings of file names that say something about a GPU job: driver, CUDA libraries, frameworks, other vendors' run
// times, tools that take CUPTI for themselves, and gpuwhy's own library.
constexpr std::string_view kInteresting[] = {"libcuda.so",
                                             "libcudart",
                                             "libcublas",
                                             "libcudnn",
                                             "libnccl",
                                             "libcufft",
                                             "libcurand",
                                             "libcusparse",
                                             "libcusolver",
                                             "libnvrtc.",
                                             "libnvJitLink",
                                             "libcupti",
                                             "libnvidia-ml",
                                             "libtorch",
                                             "libc10_cuda",
                                             "libtensorflow",
                                             "_pywrap_tensorflow",
                                             "libxla",
                                             "xla_extension",
                                             "xla_cuda_plugin",
                                             "pjrt_c_api_gpu",
                                             "libjax_common",
                                             "_jax.",
                                             "libonnxruntime",
                                             "libamdhip64",
                                             "libhipblas",
                                             "librocblas",
                                             "libze_loader",
                                             "libnvinfer",
                                             "libToolsInjection",
                                             "libsanitizer-collection",
                                             "libgpuwhy",
                                             "libgpuwhy_inject"};

bool Starts(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

}  // namespace

MappedLibraries ParseMaps(std::string_view maps) {
  MappedLibraries libraries;
  std::string_view last;
  while (!maps.empty()) {
    const size_t end = maps.find('\n');
    const std::string_view line = maps.substr(0, end);
    maps.remove_prefix(end == std::string_view::npos ? maps.size() : end + 1);
    const size_t start = line.find('/');
    if (start == std::string_view::npos) continue;
    std::string_view path = line.substr(start);
    if (path == last) continue;
    last = path;
    constexpr std::string_view kDeleted = " (deleted)";
    if (path.size() > kDeleted.size() && path.substr(path.size() - kDeleted.size()) == kDeleted)
      path.remove_suffix(kDeleted.size());
    const std::string_view file = path.substr(path.rfind('/') + 1);
    if (Starts(file, "libcuda.so") && libraries.libcuda.empty()) libraries.libcuda = std::string(path);
    if (Contains(path, "/jaxlib/")) libraries.jaxlib = true;
    const bool keep = std::any_of(std::begin(kInteresting), std::end(kInteresting),
                                  [&](std::string_view name) { return Starts(file, name); });
    if (keep) libraries.names.emplace_back(file);
  }
  std::sort(libraries.names.begin(), libraries.names.end());
  libraries.names.erase(std::unique(libraries.names.begin(), libraries.names.end()), libraries.names.end());
  return libraries;
}

std::string FrameworkHint(const MappedLibraries& libraries) {
  const auto has = [&](std::string_view start) {
    return std::any_of(libraries.names.begin(), libraries.names.end(),
                       [&](const std::string& name) { return Starts(name, start); });
  };
  std::vector<std::string> hints;
  if (has("libtorch")) hints.emplace_back("pytorch");
  if (has("libtensorflow") || has("_pywrap_tensorflow")) hints.emplace_back("tensorflow");
  if (libraries.jaxlib || has("libjax_common") || has("xla_extension") || has("xla_cuda_plugin"))
    hints.emplace_back("jax");
  if (has("libonnxruntime")) hints.emplace_back("onnxruntime");
  return Join(hints, ",");
}

}  // namespace gpuwhy::os
