// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_ANALYSIS_H_
#define GPUWHY_ENGINE_ANALYSIS_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/evidence.h"
#include "model/report.h"

namespace gpuwhy {

// The steady state of one process by its step marks: from the end of warm-up to the last step. Differences of running
// totals, hence exact.
struct SteadyState {
  int64_t pid = 0;
  double start_s = 0, end_s = 0;
  uint64_t steps = 0;
  double wait_s = 0;  // in the data loader's __next__
  double save_s = 0;  // writing checkpoints
  uint64_t items = 0;
  double hook_s = 0;  // our own hooks
  double seconds() const { return end_s - start_s; }
};

// How a stretch of time divides by what the GPU did, in seconds: exclusive, in this order of priority.
struct GpuSplit {
  double compute = 0, communication = 0, copy = 0, idle = 0;
  double busy() const { return compute + communication + copy; }
  double total() const { return busy() + idle; }
};

// GPU work inside the timing windows joined with what the host did: one process, its busiest device.
struct WindowView {
  double seconds = 0;
  uint64_t kernels = 0, copies = 0;
  GpuSplit in_wait;            // while the process waited for input
  GpuSplit in_save;            // while it wrote a checkpoint
  GpuSplit in_other;           // compiling or collecting garbage
  GpuSplit rest;               // everything else
  double kernel_s = 0;         // union of kernels and memsets
  double pageable_copy_s = 0;  // exposed copies that touch pageable memory
  double median_kernel_s = 0;
  uint64_t pageable_bytes = 0, pinned_bytes = 0, pageable_copies = 0;
  double largest_pageable_bytes = 0;
  double steps = 0;        // step marks inside
  double short_gap_s = 0;  // idle gaps too short for the host to have caused them, see windows.cc
  double long_gap_s = 0;   // idle gaps in `rest` too long for a host that dispatches, see windows.cc
};

// Blocking calls inside the synchronisation windows, of the thread that blocks most.
struct SyncView {
  double seconds = 0;
  double outside_wait_s = 0;  // the part in which the process did not wait for input
  uint64_t syncs = 0, copies = 0;
  double blocked_s = 0;  // in synchronising calls and in copies that block
  double steps = 0;
};

// What the launching Python threads were seen doing in the windows, by looks at their stacks (20 a second).
struct HostView {
  static constexpr size_t kCategories = 8;  // wire host_category
  uint64_t looks = 0;
  std::array<uint64_t, kCategories> by_category = {};
  // The deciding frame ("train.py:31 augment") seen most in each category and how often; "" = none.
  std::array<std::pair<std::string, uint64_t>, kCategories> frame = {};
  double share(size_t category) const {
    return looks > 0 ? static_cast<double>(by_category[category]) / static_cast<double>(looks) : 0;
  }
};

struct Analysis {
  std::vector<int64_t> processes;  // of the job that any witness knows
  int64_t main_pid = 0;            // most steps, else most kernels, else most CPU time; 0 = none
  double wall_s = 0;               // life of the job as far as watched
  double cpu_s = 0;                // CPU time of its tree
  uint64_t steps_total = 0;        // optimizer steps and train calls of all processes
  std::optional<SteadyState> steady;
  std::optional<WindowView> window;
  std::optional<SyncView> sync;
  std::optional<HostView> host;
  uint64_t windows = 0;                   // CUPTI windows of all processes, proof windows included
  uint64_t late_windows = 0;              // timing windows and seconds of permanent tracing
  uint64_t kernels_total = 0;             // in all windows
  uint64_t late_kernels = 0;              // in the late ones
  std::vector<int64_t> kernel_processes;  // those with kernels
  std::optional<Breakdown> breakdown;
  std::string gpu;  // UUID of the GPU that the main process works on, "" when not known
  double window_cost_s = 0;
  std::map<std::string, MetricValue> metrics;
};

// Everything rules and ladder share, computed once. Deterministic: the same evidence gives the same analysis.
Analysis Analyse(const Evidence& evidence);

// Parts of Analyse, in files of their own.
std::optional<SteadyState> FindSteadyState(const Evidence& evidence, int64_t pid);
std::optional<WindowView> ViewWindows(const Evidence& evidence, int64_t pid);
std::optional<SyncView> ViewSync(const Evidence& evidence, int64_t pid);
std::optional<HostView> ViewHost(const Evidence& evidence, int64_t pid);  // nothing without looks
std::optional<Breakdown> BreakDown(const Analysis& analysis);
void FillMetrics(const Evidence& evidence, Analysis& analysis);

// Mean, increase (last minus first) and maximum of the points in [from_s, to_s]; nothing without points.
std::optional<double> MeanOf(const Series& series, double from_s, double to_s);
std::optional<double> IncreaseOf(const Series& series, double from_s, double to_s);
std::optional<double> MaxOf(const Series& series, double from_s, double to_s);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_ANALYSIS_H_
