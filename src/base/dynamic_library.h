// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_DYNAMIC_LIBRARY_H_
#define GPUWHY_BASE_DYNAMIC_LIBRARY_H_

#include <string>

#include "base/result.h"

namespace gpuwhy {

// A shared library opened at run time. It stays loaded for the life of the program: vendor libraries start threads and
// register exit handlers, so that closing them is where crashes come from.
class DynamicLibrary {
 public:
  // `name` is a path or a SONAME. The error's message is the loader's own words.
  static Result<DynamicLibrary> Open(const std::string& name);

  // Address of a symbol or nullptr: a driver too old for it is normal.
  void* Symbol(const char* name) const;
  // Path of the file that was really loaded, "" when the loader does not tell.
  std::string LoadedPath() const;

 private:
  explicit DynamicLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_DYNAMIC_LIBRARY_H_
