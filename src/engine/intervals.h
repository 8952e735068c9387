// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_INTERVALS_H_
#define GPUWHY_ENGINE_INTERVALS_H_

#include <cstdint>
#include <vector>

namespace gpuwhy {

// Half-open interval of nanoseconds.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
};

// Sorted, disjoint, not empty: what every function here returns and (but for Union) expects.
using Intervals = std::vector<Interval>;

Intervals Union(std::vector<Interval> any);
Intervals Subtract(const Intervals& from, const Intervals& what);
Intervals Intersect(const Intervals& a, const Intervals& b);
double Seconds(const Intervals& intervals);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_INTERVALS_H_
