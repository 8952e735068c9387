// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// What differs between the versions of the fake CUPTI, and its log.
#ifndef GPUWHY_TESTS_FAKES_FAKE_CUPTI_VERSION_H_
#define GPUWHY_TESTS_FAKES_FAKE_CUPTI_VERSION_H_

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "inject/cupti_abi.h"

#ifndef FAKE_CUPTI_VERSION
#define FAKE_CUPTI_VERSION 130001
#endif

namespace fake_cupti {

inline constexpr size_t kTail = FAKE_CUPTI_VERSION >= 18 ? 64 : 0;  // later versions appended fields

// Number of callback ids, roughly those of CUDA 13.0 and 11.2.
constexpr uint32_t Ids(uint32_t domain) {
  if (domain == gpuwhy::cupti::kDomainDriver) return FAKE_CUPTI_VERSION >= 18 ? 805 : 600;
  return FAKE_CUPTI_VERSION >= 18 ? 520 : 400;
}

// A record of a kind that nobody asked for.
struct Foreign {
  uint32_t kind = 4;
  uint32_t rest[9] = {};
};

// Without the tail; 0 for a kind that this CUPTI never writes.
inline size_t RecordBytes(uint32_t kind) {
  switch (kind) {
    case gpuwhy::cupti::kKindConcurrentKernel:
      return sizeof(gpuwhy::cupti::Kernel);
    case gpuwhy::cupti::kKindMemcpy:
      return sizeof(gpuwhy::cupti::Memcpy);
    case gpuwhy::cupti::kKindMemset:
      return sizeof(gpuwhy::cupti::Memset);
    case Foreign{}.kind:
      return sizeof(Foreign);
    default:
      return 0;
  }
}

inline void Log(const char* text) {
  const char* path = getenv("FAKE_CUPTI_LOG");
  if (path == nullptr) return;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  char line[160];
  const int length = snprintf(line, sizeof(line), "%d %s\n", static_cast<int>(getpid()), text);
  if (write(fd, line, static_cast<size_t>(length)) != length) _exit(97);
  close(fd);
}

inline void Violation(const char* text) {
  char line[128];
  snprintf(line, sizeof(line), "violation: %s", text);
  Log(line);
}

}  // namespace fake_cupti
#endif  // GPUWHY_TESTS_FAKES_FAKE_CUPTI_VERSION_H_
