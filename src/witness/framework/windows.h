// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_FRAMEWORK_WINDOWS_H_
#define GPUWHY_WITNESS_FRAMEWORK_WINDOWS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "wire/wire.gen.h"

namespace gpuwhy::framework {

// When the CUDA library of a process had a window open, on CLOCK_MONOTONIC, from its own window records. Permanent
// tracing is no window: it would make every moment of the job one.
class Windows {
 public:
  void Add(const wire::Window& record) {
    if (record.mode == static_cast<uint16_t>(wire::WindowMode::kPermanent)) return;
    if (record.action == static_cast<uint16_t>(wire::WindowAction::kBegin)) {
      Close(record.time_ns);
      if (spans_.size() < kMax) spans_.push_back({record.time_ns, kOpen, record.mode});
    } else if (record.action == static_cast<uint16_t>(wire::WindowAction::kEnd)) {
      Close(record.time_ns);
    }
  }

  // Does anything of [start, end] lie in a window?
  bool Overlaps(uint64_t start_ns, uint64_t end_ns) const {
    for (const Interval& span : spans_) {
      if (start_ns <= span.end_ns && end_ns >= span.start_ns) return true;
    }
    return false;
  }

  bool timing_open() const {
    return !spans_.empty() && spans_.back().end_ns == kOpen &&
           spans_.back().mode == static_cast<uint16_t>(wire::WindowMode::kTiming);
  }
  bool any_open() const { return !spans_.empty() && spans_.back().end_ns == kOpen; }
  size_t count() const { return spans_.size(); }

 private:
  static constexpr uint64_t kOpen = std::numeric_limits<uint64_t>::max();
  static constexpr size_t kMax = 1000;  // a job of a week has about as many

  struct Interval {
    uint64_t start_ns;
    uint64_t end_ns;
    uint16_t mode;
  };
  void Close(uint64_t time_ns) {
    if (any_open()) spans_.back().end_ns = time_ns;
  }

  std::vector<Interval> spans_;
};

}  // namespace gpuwhy::framework

#endif  // GPUWHY_WITNESS_FRAMEWORK_WINDOWS_H_
