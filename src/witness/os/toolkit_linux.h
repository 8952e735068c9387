// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_TOOLKIT_LINUX_H_
#define GPUWHY_WITNESS_OS_TOOLKIT_LINUX_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_root.h"
#include "base/result.h"
#include "model/evidence.h"

namespace gpuwhy::os {

// The variables of the user that decide which toolkit is found. Empty = not set.
struct UserEnvironment {
  std::string path;       // PATH
  std::string cuda_home;  // CUDA_HOME
  std::string cuda_path;  // CUDA_PATH
  std::string conda_prefix;
  std::string virtual_env;
  static UserEnvironment OfThisProcess();
};

// Version of the toolkit in a folder (full path): version.json, version.txt, then include/cuda.h (CUDA_VERSION).
std::optional<std::string> ToolkitVersion(const std::string& folder);

// Facts toolkit.* and nvidia_smi.* of the machine (docs/witnesses/os.md). Runs `nvcc --version` (limit 2 s) only when
// no file tells the version of an nvcc that was found, and never below a root folder of tests.
void AddToolkitFacts(const HostRoot& root, const UserEnvironment& user, EvidenceSink& sink);

// First executable of that name in a PATH, absolute.
std::optional<std::string> FindOnPath(const HostRoot& root, std::string_view path, std::string_view name);

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_TOOLKIT_LINUX_H_
