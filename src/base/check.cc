// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace gpuwhy::internal {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "gpuwhy: bug: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace gpuwhy::internal
