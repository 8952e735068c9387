// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "engine/analysis.h"
#include "engine/intervals.h"

namespace gpuwhy {
namespace {

constexpr uint32_t kModeTiming = 2, kModeSync = 3;  // wire window_mode
constexpr uint32_t kPageable = 1, kPinned = 2;      // wire memory_kind
constexpr double kBlockingCopy = 20e-6;             // a copy call that returns sooner only queued its work

// From one kernel of a stream or graph to the next the GPU itself needs some microseconds (7 us between the nodes of a
// CUDA graph on an H200). A host that reacts to the end of a kernel takes longer: gaps below say nothing of the host.
constexpr int64_t kShortGapNs = 15'000;

// A host that dispatches launches every few microseconds (5 to 30 us for an eager operator of PyTorch) and needs some
// milliseconds at most around a step (optimizer, a compiled step's arguments). A gap beyond means that it did
// something else.
constexpr int64_t kLongGapNs = 5'000'000;

struct DeviceWork {
  std::vector<Interval> compute, communication, copy, pageable;
};

// NCCL's kernels were called ncclKernel_* and are ncclDevKernel_*; vLLM brings its own all-reduce (profiling
// facts 4.1).
bool IsCollective(const std::string& name) {
  return name.rfind("nccl", 0) == 0 || name.find("ncclKernel") != std::string::npos ||
         name.find("ncclDevKernel") != std::string::npos || name.find("multimem_all_reduce") != std::string::npos;
}

// Where records were dropped the window is only as long as what was kept: the rest of it was not idle but unseen.
int64_t KeptUntil(const Evidence& evidence, const Span& window) {
  int64_t last = window.start_ns;
  for (const Span& span : evidence.spans()) {
    const bool gpu = span.kind == SpanKind::kKernel || span.kind == SpanKind::kCopy || span.kind == SpanKind::kMemset;
    if (gpu && span.pid == window.pid && span.start_ns >= window.start_ns && span.start_ns < window.end_ns()) {
      last = std::max(last, span.end_ns());
    }
  }
  return std::min(last, window.end_ns());
}

Intervals WindowsOf(const Evidence& evidence, int64_t pid, uint32_t mode) {
  std::vector<Interval> windows;
  for (const Span& span : evidence.spans()) {
    if (span.kind != SpanKind::kWindow || span.pid != pid || span.detail[0] != mode) continue;
    const bool whole = mode == kModeSync || span.detail[1] == 0;
    windows.push_back({span.start_ns, whole ? span.end_ns() : KeptUntil(evidence, span)});
  }
  return Union(std::move(windows));
}

bool Inside(const Intervals& windows, int64_t time_ns) {
  return std::any_of(windows.begin(), windows.end(),
                     [&](const Interval& w) { return w.begin <= time_ns && time_ns < w.end; });
}

double StepsInside(const Evidence& evidence, int64_t pid, const Intervals& windows) {
  // Marks are thinned outside windows: the difference of indices is the number of steps between two marks.
  double steps = 0;
  for (const Interval& window : windows) {
    uint64_t low = UINT64_MAX, high = 0;
    for (const StepMark& mark : evidence.steps()) {
      if (mark.pid != pid || mark.time_ns < window.begin || mark.time_ns >= window.end) continue;
      low = std::min(low, mark.index);
      high = std::max(high, mark.index);
    }
    if (high > low) steps += static_cast<double>(high - low);
  }
  return steps;
}

Intervals HostSpans(const Evidence& evidence, int64_t pid, const std::set<SpanKind>& kinds, const Intervals& windows) {
  std::vector<Interval> spans;
  for (const Span& span : evidence.spans()) {
    if (span.pid == pid && kinds.count(span.kind) != 0) spans.push_back({span.start_ns, span.end_ns()});
  }
  return Intersect(Union(std::move(spans)), windows);
}

// Collects the GPU work of each device and fills the counts of the view.
std::map<int32_t, DeviceWork> Collect(const Evidence& evidence, int64_t pid, const Intervals& windows,
                                      WindowView& view) {
  std::map<int32_t, DeviceWork> devices;
  std::vector<int64_t> durations;
  for (const Span& span : evidence.spans()) {
    if (span.pid != pid || span.device < 0 || !Inside(windows, span.start_ns)) continue;
    DeviceWork& work = devices[span.device];
    const Interval interval{span.start_ns, span.end_ns()};
    if (span.kind == SpanKind::kKernel) {
      ++view.kernels;
      durations.push_back(span.duration_ns);
      (IsCollective(evidence.Name(span.name)) ? work.communication : work.compute).push_back(interval);
    } else if (span.kind == SpanKind::kMemset) {
      work.compute.push_back(interval);
    } else if (span.kind == SpanKind::kCopy) {
      ++view.copies;
      work.copy.push_back(interval);
      const bool pageable = span.detail[1] == kPageable || span.detail[2] == kPageable;
      if (pageable) {
        ++view.pageable_copies;
        view.pageable_bytes += span.bytes;
        view.largest_pageable_bytes = std::max(view.largest_pageable_bytes, static_cast<double>(span.bytes));
        work.pageable.push_back(interval);
      } else if (span.detail[1] == kPinned || span.detail[2] == kPinned) {
        view.pinned_bytes += span.bytes;
      }
    }
  }
  if (!durations.empty()) {
    const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::nth_element(durations.begin(), middle, durations.end());
    view.median_kernel_s = static_cast<double>(*middle) * 1e-9;
  }
  return devices;
}

GpuSplit SplitOf(const Intervals& where, const Intervals& compute, const Intervals& communication,
                 const Intervals& copy) {
  GpuSplit split;
  split.compute = Seconds(Intersect(where, compute));
  split.communication = Seconds(Intersect(where, communication));
  split.copy = Seconds(Intersect(where, copy));
  split.idle = std::max(0.0, Seconds(where) - split.busy());
  return split;
}

Intervals ShortGaps(const Intervals& busy) {
  Intervals gaps;
  for (size_t i = 1; i < busy.size(); ++i) {
    if (busy[i].begin - busy[i - 1].end < kShortGapNs) gaps.push_back({busy[i - 1].end, busy[i].begin});
  }
  return gaps;
}

Intervals LongGaps(const Intervals& rest, const Intervals& busy) {
  Intervals gaps;
  for (const Interval& gap : Subtract(rest, busy)) {
    if (gap.end - gap.begin >= kLongGapNs) gaps.push_back(gap);
  }
  return gaps;
}

Intervals Merge(std::vector<Interval> all, const Intervals& more) {
  all.insert(all.end(), more.begin(), more.end());
  return Union(std::move(all));
}

}  // namespace

std::optional<WindowView> ViewWindows(const Evidence& evidence, int64_t pid) {
  const Intervals windows = WindowsOf(evidence, pid, kModeTiming);
  if (windows.empty()) return std::nullopt;
  WindowView view;
  view.seconds = Seconds(windows);
  view.steps = StepsInside(evidence, pid, windows);
  std::map<int32_t, DeviceWork> devices = Collect(evidence, pid, windows, view);
  Intervals compute, communication, copy, pageable;
  for (auto& [device, work] : devices) {
    Intervals own = Intersect(Union(std::move(work.compute)), windows);
    if (!compute.empty() && Seconds(own) <= Seconds(compute)) continue;
    compute = std::move(own);
    communication = Subtract(Intersect(Union(std::move(work.communication)), windows), compute);
    const Intervals working = Merge(compute, communication);
    copy = Subtract(Intersect(Union(std::move(work.copy)), windows), working);
    pageable = Subtract(Intersect(Union(std::move(work.pageable)), windows), working);
  }
  view.kernel_s = Seconds(compute) + Seconds(communication);
  view.pageable_copy_s = Seconds(pageable);
  const Intervals wait = HostSpans(evidence, pid, {SpanKind::kInputWait}, windows);
  const Intervals save = Subtract(HostSpans(evidence, pid, {SpanKind::kCheckpoint}, windows), wait);
  const Intervals other =
      Subtract(Subtract(HostSpans(evidence, pid, {SpanKind::kCompile, SpanKind::kCollection}, windows), wait), save);
  const Intervals rest = Subtract(Subtract(Subtract(windows, wait), save), other);
  view.in_wait = SplitOf(wait, compute, communication, copy);
  view.in_save = SplitOf(save, compute, communication, copy);
  view.in_other = SplitOf(other, compute, communication, copy);
  view.rest = SplitOf(rest, compute, communication, copy);
  const Intervals busy = Merge(Merge(compute, communication), copy);
  view.short_gap_s = Seconds(Intersect(rest, ShortGaps(busy)));
  view.long_gap_s = Seconds(LongGaps(rest, busy));
  return view;
}

std::optional<SyncView> ViewSync(const Evidence& evidence, int64_t pid) {
  const Intervals windows = WindowsOf(evidence, pid, kModeSync);
  if (windows.empty()) return std::nullopt;
  SyncView view;
  view.seconds = Seconds(windows);
  view.steps = StepsInside(evidence, pid, windows);
  const Intervals wait = HostSpans(evidence, pid, {SpanKind::kInputWait}, windows);
  view.outside_wait_s = std::max(0.0, view.seconds - Seconds(wait));
  std::map<uint32_t, std::vector<Interval>> threads;
  for (const Span& span : evidence.spans()) {
    if (span.pid != pid || !Inside(windows, span.start_ns)) continue;
    if (span.kind == SpanKind::kSyncCall) {
      ++view.syncs;
      threads[span.lane].push_back({span.start_ns, span.end_ns()});
    } else if (span.kind == SpanKind::kCopyCall) {
      ++view.copies;
      if (static_cast<double>(span.duration_ns) * 1e-9 > kBlockingCopy)
        threads[span.lane].push_back({span.start_ns, span.end_ns()});
    }
  }
  for (auto& [thread, calls] : threads) {
    view.blocked_s = std::max(view.blocked_s, Seconds(Subtract(Intersect(Union(std::move(calls)), windows), wait)));
  }
  return view;
}

}  // namespace gpuwhy
