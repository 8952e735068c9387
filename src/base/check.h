// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_CHECK_H_
#define GPUWHY_BASE_CHECK_H_

namespace gpuwhy::internal {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace gpuwhy::internal

// A broken invariant of our own: abort with the place. Never for bad input.
#define GW_CHECK(condition)                                                            \
  do {                                                                                 \
    if (!(condition)) ::gpuwhy::internal::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)

#endif  // GPUWHY_BASE_CHECK_H_
