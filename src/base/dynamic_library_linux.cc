// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <link.h>

#include "base/dynamic_library.h"

namespace gpuwhy {

Result<DynamicLibrary> DynamicLibrary::Open(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return DynamicLibrary(handle);
  const char* why = dlerror();
  return Error{ErrorCode::kNotFound, why != nullptr ? why : "dlopen failed without a reason", ""};
}

void* DynamicLibrary::Symbol(const char* name) const { return dlsym(handle_, name); }

std::string DynamicLibrary::LoadedPath() const {
  const link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) return "";
  return map->l_name;
}

}  // namespace gpuwhy
