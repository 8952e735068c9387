// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_CLOCK_H_
#define GPUWHY_BASE_CLOCK_H_

#include <cstdint>
#include <string>

namespace gpuwhy {

// CLOCK_MONOTONIC in nanoseconds: the clock of every record, so that agents and gpuwhy agree.
int64_t MonotonicNs();

// Wall clock in nanoseconds since 1970.
int64_t WallNs();

// "2026-01-31T12:00:00.250Z" (RFC 3339, UTC, milliseconds).
std::string Rfc3339(int64_t wall_ns);

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_CLOCK_H_
