// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include "base/clock.h"
#include "base/format.h"

namespace gpuwhy {
namespace {

int64_t Read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

int64_t MonotonicNs() { return Read(CLOCK_MONOTONIC); }

int64_t WallNs() { return Read(CLOCK_REALTIME); }

std::string Rfc3339(int64_t wall_ns) {
  const time_t seconds = wall_ns / 1'000'000'000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return Format("{}.{:03}Z", static_cast<const char*>(text), wall_ns / 1'000'000 % 1000);
}

}  // namespace gpuwhy
