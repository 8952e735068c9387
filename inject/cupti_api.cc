// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/cupti_api.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include <initializer_list>

#include "inject/old_glibc.h"

namespace gpuwhy::inject {
namespace {

using Path = Text<1024>;

struct VersionRow {
  uint32_t api;
  int cuda;
};
// cupti_version.h of CUDA 13.0. 25 is not listed there; it lies between 12.6 and 12.8.
constexpr VersionRow kVersions[] = {{13, 11000}, {14, 11010}, {15, 11020}, {16, 11050}, {17, 11060}, {18, 11080},
                                    {19, 12000}, {20, 12020}, {21, 12030}, {22, 12040}, {23, 12050}, {24, 12060},
                                    {25, 12060}, {26, 12080}, {27, 12090}, {28, 12090}};

const char* BaseName(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool StartsWith(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

struct MappedSearch {
  const char* prefix;
  Path path;
};

int MatchMapped(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<MappedSearch*>(data);
  if (info->dlpi_name == nullptr || !StartsWith(BaseName(info->dlpi_name), search->prefix)) return 0;
  search->path.Add(info->dlpi_name);
  return 1;
}

// Handle of a library that is mapped already; never loads.
void* Mapped(const char* prefix, Path* path) {
  MappedSearch search{prefix, {}};
  if (dl_iterate_phdr(&MatchMapped, &search) == 0) return nullptr;
  path->Add(search.path.c_str());
  return dlopen(search.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
}

template <class Function>
bool Bind(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool BindAll(void* lib, CuptiApi* api, const char** missing) {
  struct Need {
    const char* name;
    bool there;
  };
  const Need needs[] = {
      {"cuptiGetVersion", Bind(lib, "cuptiGetVersion", &api->GetVersion)},
      {"cuptiSubscribe", Bind(lib, "cuptiSubscribe", &api->Subscribe)},
      {"cuptiUnsubscribe", Bind(lib, "cuptiUnsubscribe", &api->Unsubscribe)},
      {"cuptiEnableCallback", Bind(lib, "cuptiEnableCallback", &api->EnableCallback)},
      {"cuptiEnableDomain", Bind(lib, "cuptiEnableDomain", &api->EnableDomain)},
      {"cuptiActivityRegisterCallbacks", Bind(lib, "cuptiActivityRegisterCallbacks", &api->RegisterCallbacks)},
      {"cuptiActivityEnable", Bind(lib, "cuptiActivityEnable", &api->Enable)},
      {"cuptiActivityDisable", Bind(lib, "cuptiActivityDisable", &api->Disable)},
      {"cuptiActivityFlushAll", Bind(lib, "cuptiActivityFlushAll", &api->FlushAll)},
      {"cuptiActivityGetNextRecord", Bind(lib, "cuptiActivityGetNextRecord", &api->GetNextRecord)},
      {"cuptiFinalize", Bind(lib, "cuptiFinalize", &api->Finalize)},
      {"cuptiGetTimestamp", Bind(lib, "cuptiGetTimestamp", &api->GetTimestamp)},
  };
  for (const Need& need : needs) {
    if (!need.there) {
      *missing = need.name;
      return false;
    }
  }
  Bind(lib, "cuptiActivityGetNumDroppedRecords", &api->GetNumDropped);
  Bind(lib, "cuptiSubscribe_v2", &api->SubscribeV2);
  Bind(lib, "cuptiActivityRegisterTimestampCallback", &api->RegisterTimestamp);
  return true;
}

// Takes the library if it is complete, of a known age and not newer than the driver. Says in found->problem why not.
bool Take(void* lib, const char* path, CuptiFound* found) {
  CuptiApi api;
  const char* missing = nullptr;
  found->problem = {};
  if (!BindAll(lib, &api, &missing)) {
    found->problem.Add(path).Add(" lacks ").Add(missing);
    return false;
  }
  if (api.GetVersion(&found->version) != cupti::kSuccess || found->version < cupti::kVersion110) {
    found->problem.Add(path).Add(" is older than CUDA 11.0 (CUPTI API version ").AddNumber(found->version).Add(")");
    return false;
  }
  found->cuda_version = CudaVersionOfCupti(found->version);
  if (found->driver_cuda_version != 0 && found->cuda_version / 10 > found->driver_cuda_version / 10) {
    found->problem.Add(path).Add(" is made for CUDA ").AddNumber(static_cast<uint64_t>(found->cuda_version));
    found->problem.Add(", the driver offers ").AddNumber(static_cast<uint64_t>(found->driver_cuda_version));
    return false;
  }
  found->api = api;
  found->path = {};
  found->path.Add(path);
  found->problem = {};
  return true;
}

// The names that a CUPTI of one CUDA major version may carry. 11.x counted its minor version in the name.
constexpr const char* kNames13[] = {"libcupti.so.13"};
constexpr const char* kNames12[] = {"libcupti.so.12"};
constexpr const char* kNames11[] = {"libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6",
                                    "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
                                    "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0"};

// Tries the names in one directory ("" = the loader's own paths), newest first, none above the driver's major version:
// loading one that turns out too new cannot be undone, and its SONAME would then serve the job too.
bool TryDirectory(const char* directory, CuptiFound* found) {
  const int major = found->driver_cuda_version == 0 ? 99 : found->driver_cuda_version / 1000;
  auto attempt = [&](const char* name) {
    Path path;
    if (*directory != 0) path.Add(directory).Add("/");
    path.Add(name);
    if (*directory != 0 && access(path.c_str(), R_OK) != 0) return false;
    void* lib = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    return lib != nullptr && Take(lib, path.c_str(), found);
  };
  bool taken = false;
  if (major >= 13) taken = attempt(kNames13[0]);
  if (!taken && major >= 12) taken = attempt(kNames12[0]);
  for (size_t i = 0; !taken && i < sizeof(kNames11) / sizeof(kNames11[0]); ++i) taken = attempt(kNames11[i]);
  return taken;
}

bool TryList(const char* list, CuptiFound* found) {
  for (const char* p = list; p != nullptr && *p != 0;) {
    const char* end = strchr(p, ':');
    const size_t length = end ? static_cast<size_t>(end - p) : strlen(p);
    Path directory;
    directory.Add(p, length);
    if (length > 0 && TryDirectory(directory.c_str(), found)) return true;
    p = end ? end + 1 : nullptr;
  }
  return false;
}

// ROOT/lib/python3.X/site-packages/nvidia/{cu13,cuda_cupti}/lib
bool TryPythonRoot(const char* root, CuptiFound* found) {
  Path lib;
  lib.Add(root).Add("/lib");
  DIR* directory = opendir(lib.c_str());
  if (directory == nullptr) return false;
  bool taken = false;
  for (dirent* entry = readdir(directory); entry != nullptr && !taken; entry = readdir(directory)) {
    if (!StartsWith(entry->d_name, "python")) continue;
    for (const char* package : {"cu13", "cuda_cupti"}) {
      Path path;
      path.Add(lib.c_str()).Add("/").Add(entry->d_name).Add("/site-packages/nvidia/").Add(package).Add("/lib");
      if (!taken) taken = TryDirectory(path.c_str(), found);
    }
  }
  closedir(directory);
  return taken;
}

// The folder above the one that holds this program: "/venv" for "/venv/bin/python".
bool TryProgramRoot(const char* program, size_t length, CuptiFound* found) {
  for (int up = 0; up < 2; ++up) {
    while (length > 0 && program[length - 1] != '/') --length;
    if (length <= 1) return false;
    --length;
  }
  Path root;
  root.Add(program, length);
  return TryPythonRoot(root.c_str(), found);
}

bool TryInterpreter(CuptiFound* found) {
  if (TryList(getenv("GPUWHY_CUPTI_DIRS"), found)) return true;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* root = getenv(name);
    if (root != nullptr && TryPythonRoot(root, found)) return true;
  }
  char program[1000];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
  return length > 0 && TryProgramRoot(program, static_cast<size_t>(length), found);
}

bool TryToolkits(CuptiFound* found) {
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", ""}) {
    const char* home = *name != 0 ? getenv(name) : "/usr/local/cuda";
    if (home == nullptr || *home == 0) continue;
    for (const char* sub : {"/extras/CUPTI/lib64", "/lib64"}) {
      Path path;
      path.Add(home).Add(sub);
      if (TryDirectory(path.c_str(), found)) return true;
    }
  }
  return false;
}

void BindDriver(CuptiFound* found) {
  Path path;
  void* lib = Mapped("libcuda.so", &path);
  if (lib == nullptr) return;
  Bind(lib, "cuDriverGetVersion", &found->driver.DriverGetVersion);
  Bind(lib, "cuCtxGetCurrent", &found->driver.CtxGetCurrent);
  int version = 0;
  if (found->driver.DriverGetVersion != nullptr && found->driver.DriverGetVersion(&version) == 0)
    found->driver_cuda_version = version;
}

}  // namespace

int CudaVersionOfCupti(uint32_t api_version) {
  if (api_version >= cupti::kNewScheme) {
    return static_cast<int>(api_version / 10000 * 1000 + api_version / 100 % 100 * 10);
  }
  for (const VersionRow& row : kVersions) {
    if (row.api == api_version) return row.cuda;
  }
  return api_version > 28 ? 12090 : 0;
}

Text<160> CuptiPackage(int driver_cuda_version) {
  Text<160> text;
  const int major = driver_cuda_version / 1000;
  if (major >= 13) return text.Add("pip install nvidia-cuda-cupti (CUDA 13), or the system package cuda-cupti-13-0");
  if (major == 11) return text.Add("pip install nvidia-cuda-cupti-cu11, or the system package cuda-cupti-11-8");
  return text.Add("pip install nvidia-cuda-cupti-cu12, or the system package cuda-cupti-12-")
      .AddNumber(static_cast<uint64_t>(driver_cuda_version % 1000 / 10));
}

void FindCupti(CuptiFound* found) {
  BindDriver(found);
  Path mapped;
  void* lib = Mapped("libcupti.so", &mapped);
  if (lib != nullptr) {
    // Two CUPTIs in one process fight over the driver: the job's own or none.
    found->was_mapped = true;
    Take(lib, mapped.c_str(), found);
    return;
  }
  if (TryInterpreter(found) || TryToolkits(found) || TryDirectory("", found)) return;
  if (found->problem.size() == 0) found->problem.Add("no libcupti.so for this driver was found");
}

}  // namespace gpuwhy::inject
