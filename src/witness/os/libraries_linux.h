// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_LIBRARIES_LINUX_H_
#define GPUWHY_WITNESS_OS_LIBRARIES_LINUX_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/host_root.h"
#include "model/evidence.h"

namespace gpuwhy::os {

// Folders in which the dynamic linker of this machine looks without LD_LIBRARY_PATH: those of /etc/ld.so.conf (with its
// includes), then the built-in ones. Absolute paths without the root folder in front. Only folders that exist.
std::vector<std::string> LinkerFolders(const HostRoot& root);

// Version behind "NAME.so." in a file name of a folder: {"/usr/lib/x/libcuda.so.580.159.04", "580.159.04"}.
struct VersionedLibrary {
  std::string path;
  std::string version;
};
std::vector<VersionedLibrary> FindVersionedLibraries(const HostRoot& root, const std::vector<std::string>& folders,
                                                     std::string_view name);

// SONAMEs of CUDA libraries that a framework loads: `cuda` and `cudnn` are versions such as "12.4" and "9" (empty: not
// used). CUDA 11: cublas 11, cufft 10, cusparse 11; CUDA 12: cublas 12, cufft 11, cusparse 12; CUDA 13: cublas 13,
// cufft 12, cusparse 12 (component tables of the CUDA release notes). Empty when the version is outside 11 to 13.
std::vector<std::string> NeededCudaLibraries(std::string_view cuda, std::string_view cudnn);

struct LibraryPresence {
  std::vector<std::string> found;    // "libcudnn.so.9 /path/of/it"
  std::vector<std::string> missing;  // "libcudnn.so.9"
};
// Looks for each SONAME in nvidia/*/lib of every folder of `python_path` (the wheels' place), in `library_path` (the
// text of LD_LIBRARY_PATH), in torch/lib, and in the linker's folders.
LibraryPresence FindCudaLibraries(const HostRoot& root, const std::vector<std::string>& sonames,
                                  const std::vector<std::string>& python_path, std::string_view library_path);

// The same for one process: facts process.cuda_libraries.found and process.cuda_libraries.missing.
void AddCudaLibraryFacts(int64_t pid, const LibraryPresence& presence, double time_s, EvidenceSink& sink);

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_LIBRARIES_LINUX_H_
