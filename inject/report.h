// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_REPORT_H_
#define GPUWHY_INJECT_REPORT_H_

#include <stdint.h>

#include <atomic>

#include "inject/ring.h"
#include "inject/text.h"

namespace gpuwhy::inject {

// Facts and gaps as JSON blobs: {"facts": {"name": value, ...}} and {"what": ..., "why": ..., "fix": ...}.
class Reporter {
 public:
  void Start(Ring* ring) { ring_ = ring; }
  void Fact(const char* name, const char* value);
  void Fact(const char* name, uint64_t value);
  void Gap(const char* what, const char* why, const char* fix);

 private:
  Ring* ring_ = nullptr;
  std::atomic<uint32_t> facts_{0};
  std::atomic<uint32_t> gaps_{0};
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_REPORT_H_
