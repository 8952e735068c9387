// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_COLLECT_ENV_PACKAGES_H_
#define GPUWHY_READER_COLLECT_ENV_PACKAGES_H_

#include <optional>
#include <string>
#include <string_view>

#include "reader/reader.h"

namespace gpuwhy::collect_env {

// An installed package as a line of `pip list`, `pip freeze`, `conda list`, an environment file or collect_env shows
// it: "torch==1.5.1", "[conda] pytorch 1.4.0 py3.7_cpu_0 [cpuonly] pytorch", "- pytorch=1.4.0=py3.7_cpu_0".
struct Package {
  std::string name;     // in small letters
  std::string version;  // begins with a figure
  std::string build;    // of conda; "" when the line has none, "pypi_0" when pip installed it
};
std::optional<Package> ReadPackage(std::string_view line);

// CUDA version that a conda build string of PyTorch names: "" for a CPU build, nothing when it says neither.
// "py3.7_cuda10.1.243_cudnn7.6.3_0" -> "10.1", "cuda118_py310h1" -> "11.8", "py3.7_cpu_0" -> "".
std::optional<std::string> CudaOfBuild(std::string_view build);

// Pushes what an installed package says of a framework; false for all other packages.
bool AddPackage(EvidenceSink& sink, const Package& package, const TextLine& line);

}  // namespace gpuwhy::collect_env

#endif  // GPUWHY_READER_COLLECT_ENV_PACKAGES_H_
