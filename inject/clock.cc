// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
//
// How CUPTI's times become CLOCK_MONOTONIC.
#include "inject/old_glibc.h"
#include "inject/tracer.h"

namespace gpuwhy::inject {
namespace {

struct ClockPair {
  int64_t offset_ns = 0;
  uint64_t error_ns = UINT64_MAX;
};

// The tightest of a few brackets MONOTONIC, CUPTI, MONOTONIC.
ClockPair Compare(const CuptiApi& api) {
  ClockPair best;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = MonotonicNs();
    uint64_t theirs = 0;
    if (api.GetTimestamp(&theirs) != cupti::kSuccess) break;
    const uint64_t after = MonotonicNs();
    if (after - before >= best.error_ns) continue;
    best.error_ns = after - before;
    best.offset_ns = static_cast<int64_t>(before + (after - before) / 2 - theirs);
  }
  return best;
}

}  // namespace

// Must come before any activity is enabled (cuptiActivityRegisterTimestampCallback in cupti_activity.h).
void Tracer::SetClock() {
  clock_offset_ns_ = 0;
  clock_error_ns_ = 0;
  const CuptiApi& api = found_->api;
  if (api.RegisterTimestamp != nullptr && api.RegisterTimestamp(&MonotonicNs) == cupti::kSuccess) return;
  const ClockPair pair = Compare(api);
  clock_offset_ns_ = pair.offset_ns;
  clock_error_ns_ = pair.error_ns;
}

// Records were converted with the offset at the window's begin; the error is what it moved by until the end.
void Tracer::CheckClock() {
  if (clock_error_ns_ == 0) return;
  if (clock_error_ns_ == UINT64_MAX) {
    reporter_->Gap("times of GPU work", "CUPTI gave no timestamp to compare with the system clock",
                   "use the CUPTI of CUDA 11.6 or newer");
    return;
  }
  const ClockPair now = Compare(found_->api);
  const int64_t moved = now.offset_ns - clock_offset_ns_;
  const auto drift = static_cast<uint64_t>(moved < 0 ? -moved : moved);
  reporter_->Fact("cuda.clock_error_ns", drift > clock_error_ns_ ? drift : clock_error_ns_);
}

}  // namespace gpuwhy::inject
