// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/libraries_linux.h"

#include <glob.h>

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace gpuwhy::os {
namespace {

// Where driver and toolkit packages of the usual distributions put libraries even when ld.so.conf does not name the
// folder: multiarch (Debian, Ubuntu), lib64 (Fedora, SUSE), WSL, GKE and NVIDIA's container images.
constexpr std::string_view kKnownFolders[] = {"/usr/lib/wsl/lib",
                                              "/lib/x86_64-linux-gnu",
                                              "/usr/lib/x86_64-linux-gnu",
                                              "/lib/aarch64-linux-gnu",
                                              "/usr/lib/aarch64-linux-gnu",
                                              "/lib64",
                                              "/usr/lib64",
                                              "/usr/local/nvidia/lib",
                                              "/usr/local/nvidia/lib64",
                                              "/lib",
                                              "/usr/lib",
                                              "/run/opengl-driver/lib"};

constexpr int kMaxIncludeDepth = 5;

void AddFolder(std::string_view folder, std::vector<std::string>& folders) {
  while (folder.size() > 1 && folder.back() == '/') folder.remove_suffix(1);
  if (folder.empty() || folder.front() != '/') return;
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.emplace_back(folder);
}

// Files that match a pattern of an include line, as full paths (root folder in front).
std::vector<std::string> Matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

void ReadConfiguration(const HostRoot& root, const std::string& file, int depth, std::vector<std::string>& folders) {
  const Result<std::string> text = ReadFile(file, 1 << 20);
  if (!text || depth > kMaxIncludeDepth) return;
  for (std::string_view line : Lines(*text)) {
    line = Trim(line.substr(0, line.find('#')));
    if (line.substr(0, 8) != "include ") {
      AddFolder(line, folders);
      continue;
    }
    const std::string pattern(Trim(line.substr(8)));
    const std::string absolute = pattern.substr(0, 1) == "/" ? pattern : "/etc/" + pattern;
    for (const std::string& path : Matches(root.Path(absolute))) ReadConfiguration(root, path, depth + 1, folders);
  }
}

// Folders that the wheels of one site-packages folder fill: nvidia/cublas/lib (CUDA 11, 12), nvidia/cu13/lib,
// torch/lib.
void AddWheelFolders(const std::string& site, std::vector<std::string>& folders) {
  const Result<std::vector<std::string>> packages = ListFolder(site + "/nvidia");
  if (packages) {
    for (const std::string& package : *packages) AddFolder(site + "/nvidia/" + package + "/lib", folders);
  }
  AddFolder(site + "/torch/lib", folders);
}

// A wheel of PyTorch may carry "libcudart-d0da41ae.so.11.0": the name that auditwheel gives to "libcudart.so.11.0".
bool SameLibrary(std::string_view file, std::string_view soname) {
  if (file == soname) return true;
  const size_t dot = soname.find(".so");
  if (dot == std::string_view::npos || file.size() <= soname.size() + 1) return false;
  return file.substr(0, dot) == soname.substr(0, dot) && file[dot] == '-' &&
         file.substr(file.size() - (soname.size() - dot)) == soname.substr(dot);
}

}  // namespace

std::vector<std::string> LinkerFolders(const HostRoot& root) {
  std::vector<std::string> folders;
  ReadConfiguration(root, root.Path("/etc/ld.so.conf"), 0, folders);
  for (const std::string_view folder : kKnownFolders) AddFolder(folder, folders);
  const auto absent = [&root](const std::string& folder) { return !FileExists(root.Path(folder)); };
  folders.erase(std::remove_if(folders.begin(), folders.end(), absent), folders.end());
  return folders;
}

std::vector<VersionedLibrary> FindVersionedLibraries(const HostRoot& root, const std::vector<std::string>& folders,
                                                     std::string_view name) {
  std::vector<VersionedLibrary> found;
  const std::string prefix = std::string(name) + ".so.";
  for (const std::string& folder : folders) {
    const Result<std::vector<std::string>> files = ListFolder(root.Path(folder));
    if (!files) continue;
    for (const std::string& file : *files) {
      if (file.size() <= prefix.size() || file.compare(0, prefix.size(), prefix) != 0) continue;
      const std::string version = file.substr(prefix.size());
      // "libcuda.so.1" is the SONAME, "libcuda.so.1.1" a link of WSL: drivers have a version of three digits in front.
      const std::optional<Version> parsed = ParseVersion(version);
      if (parsed && parsed->parts.size() >= 2 && parsed->major() >= 100)
        found.push_back({folder + "/" + file, version});
    }
  }
  return found;
}

std::vector<std::string> NeededCudaLibraries(std::string_view cuda, std::string_view cudnn) {
  std::vector<std::string> names;
  const std::optional<Version> version = ParseVersion(cuda);
  const int major = version ? version->major() : 0;
  if (major == 11) {
    names = {"libcudart.so.11.0", "libcublas.so.11",   "libcublasLt.so.11", "libcufft.so.10",
             "libcurand.so.10",   "libcusolver.so.11", "libcusparse.so.11"};
  } else if (major == 12) {
    names = {"libcudart.so.12", "libcublas.so.12",   "libcublasLt.so.12", "libcufft.so.11",
             "libcurand.so.10", "libcusolver.so.11", "libcusparse.so.12"};
  } else if (major == 13) {
    names = {"libcudart.so.13", "libcublas.so.13",   "libcublasLt.so.13", "libcufft.so.12",
             "libcurand.so.10", "libcusolver.so.12", "libcusparse.so.12"};
  }
  const std::optional<Version> deep = ParseVersion(cudnn);
  if (!names.empty() && deep && deep->major() > 0) names.push_back("libcudnn.so." + std::to_string(deep->major()));
  return names;
}

LibraryPresence FindCudaLibraries(const HostRoot& root, const std::vector<std::string>& sonames,
                                  const std::vector<std::string>& python_path, std::string_view library_path) {
  std::vector<std::string> folders;  // full paths
  for (const std::string& site : python_path) AddWheelFolders(site, folders);
  for (const std::string_view folder : Split(library_path, ':')) AddFolder(folder, folders);
  for (const std::string& folder : LinkerFolders(root)) AddFolder(root.Path(folder), folders);
  std::vector<std::string> places(sonames.size());
  for (const std::string& folder : folders) {
    const Result<std::vector<std::string>> files = ListFolder(folder);
    if (!files) continue;
    for (size_t i = 0; i < sonames.size(); ++i) {
      if (!places[i].empty()) continue;
      const auto match = std::find_if(files->begin(), files->end(),
                                      [&](const std::string& file) { return SameLibrary(file, sonames[i]); });
      if (match != files->end()) places[i] = folder + "/" + *match;
    }
  }
  LibraryPresence presence;
  for (size_t i = 0; i < sonames.size(); ++i) {
    if (places[i].empty()) presence.missing.push_back(sonames[i]);
    if (!places[i].empty()) presence.found.push_back(sonames[i] + " " + places[i]);
  }
  return presence;
}

void AddCudaLibraryFacts(int64_t pid, const LibraryPresence& presence, double time_s, EvidenceSink& sink) {
  sink.AddFact("process.cuda_libraries.found", Entity::Process(pid), Value::Of(presence.found), Source::kOs, "",
               time_s);
  sink.AddFact("process.cuda_libraries.missing", Entity::Process(pid), Value::Of(presence.missing), Source::kOs, "",
               time_s);
}

}  // namespace gpuwhy::os
