// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_ANALYSIS_H_
#define GPUWHY_ENGINE_ANALYSIS_H_

#include <map>
#include <optional>
#include <string>
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
  double wait_s = 0;    // in the data loader's __next__
  double save_s = 0;    // writing checkpoints
  uint64_t items = 0;
  double hook_s = 0;    // our own hooks
  double seconds() const { return end_s - start_s; }
};

// GPU work inside the timing windows, joined with what the host did. Times in seconds, summed over windows; all of one
// process and one device (the busiest of the job).
struct WindowView {
  double seconds = 0;
  uint64_t kernels = 0, copies = 0;
  double busy_s = 0;           // union of kernels, memsets and collectives
  double compute_s = 0;        // the same without collectives
  double communication_s = 0;  // exposed: collectives while no other kernel ran
  double copy_s = 0;           // exposed: copies while no kernel ran
  double pageable_copy_s = 0;  // the part of copy_s whose copies touch pageable memory
  double wait_s = 0;           // input wait inside the window
  double wait_idle_s = 0;      // the part of it with an idle GPU (exposed)
  double save_idle_s = 0;
  double collection_idle_s = 0, compile_idle_s = 0;
  double idle_s = 0;           // GPU idle and none of the above
  double median_kernel_s = 0;
  uint64_t pageable_bytes = 0, pinned_bytes = 0;
  uint64_t pageable_copies = 0;
  double steps = 0;            // step marks inside
  bool graphs = false;
};

// Blocking calls inside the synchronisation windows.
struct SyncView {
  double seconds = 0;
  uint64_t syncs = 0, copies = 0;
  double sync_s = 0;    // of the thread that blocks most
  double steps = 0;
};

struct Analysis {
  std::vector<int64_t> processes;           // of the job that any witness knows
  int64_t main_pid = 0;                     // the one with the most steps, else kernels, else CPU time; 0 = none
  double wall_s = 0;                        // life of the job
  double cpu_s = 0;                         // CPU time of its tree
  uint64_t steps_total = 0;                 // optimizer steps or train calls of all processes
  std::optional<SteadyState> steady;
  std::optional<WindowView> window;
  std::optional<SyncView> sync;
  uint64_t kernels_total = 0;               // in all windows of all processes, proof windows included
  double kernel_busy_total_s = 0;
  uint64_t windows = 0;                     // windows that were opened and closed, of all processes
  uint64_t late_windows = 0;                // timing windows (after warm-up)
  uint64_t late_kernels = 0;                // kernels in them
  std::optional<Breakdown> breakdown;
  double launch_share = 0, sync_share = 0;  // the split of idle time, see breakdown.cc
  std::string gpu;                          // UUID of the GPU that the main process works on, "" when not known
  std::map<std::string, MetricValue> metrics;
};

// Everything rules and ladder share, computed once. Deterministic: the same evidence gives the same analysis.
Analysis Analyse(const Evidence& evidence);

// Helpers for series: mean over time (trapezoid-free, simple mean of points in [from, to]) and last minus first.
std::optional<double> MeanOf(const Series& series, double from_s, double to_s);
std::optional<double> IncreaseOf(const Series& series, double from_s, double to_s);
std::optional<double> MaxOf(const Series& series, double from_s, double to_s);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_ANALYSIS_H_
