// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/intervals.h"

#include <algorithm>

namespace gpuwhy {

Intervals Union(std::vector<Interval> any) {
  std::sort(any.begin(), any.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Intervals out;
  for (const Interval& next : any) {
    if (next.end <= next.begin) continue;
    if (!out.empty() && next.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, next.end);
    } else {
      out.push_back(next);
    }
  }
  return out;
}

Intervals Intersect(const Intervals& a, const Intervals& b) {
  Intervals out;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int64_t begin = std::max(a[i].begin, b[j].begin);
    const int64_t end = std::min(a[i].end, b[j].end);
    if (begin < end) out.push_back({begin, end});
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return out;
}

Intervals Subtract(const Intervals& from, const Intervals& what) {
  Intervals out;
  size_t j = 0;
  for (const Interval& piece : from) {
    int64_t begin = piece.begin;
    while (j < what.size() && what[j].end <= begin) ++j;
    for (size_t k = j; k < what.size() && what[k].begin < piece.end; ++k) {
      if (what[k].begin > begin) out.push_back({begin, what[k].begin});
      begin = std::max(begin, what[k].end);
    }
    if (begin < piece.end) out.push_back({begin, piece.end});
  }
  return out;
}

double Seconds(const Intervals& intervals) {
  int64_t total = 0;
  for (const Interval& piece : intervals) total += piece.end - piece.begin;
  return static_cast<double>(total) * 1e-9;
}

}  // namespace gpuwhy
