// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_RATIO_H_
#define GPUWHY_ENGINE_RATIO_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace gpuwhy {

// A stretch of a run: how long it took and how much work (steps or samples) was done in it.
struct WorkCell {
  double seconds = 0;
  double work = 0;
};

// Consecutive stretches of one process.
using WorkRun = std::vector<WorkCell>;

struct Bounds {
  double low = 0, high = 0;
};

// Throughput of `after` over that of `before`. Above 1: after is faster.
struct RatioEstimate {
  double value = 0;
  std::optional<Bounds> bounds;  // 95 %; nothing where a run has fewer than kFewestCells stretches
  bool between_runs = false;     // the bounds hold what differs from process to process, not only noise inside one
};

inline constexpr size_t kFewestCells = 5;

// One run a side: a circular block bootstrap of each run's cells (blocks of consecutive cells as long as their
// correlation asks for, fixed seed), widened by Student's t for the number of blocks that a short run has. It covers
// the noise inside these runs and nothing else. Three runs or more in all: the spread of the runs' own rates decides
// (two-sample t on logarithms, one variance for both sides), but never less than the noise inside them. Nothing when a
// side has no work or no time.
std::optional<RatioEstimate> EstimateRatio(const std::vector<WorkRun>& before, const std::vector<WorkRun>& after);

// Two-sided 95 % point of Student's t.
double StudentT95(double degrees_of_freedom);

// Number of consecutive cells that belong together, by the autocorrelation of their residuals: Politis and White,
// "Automatic block-length selection for the dependent bootstrap" (Econometric Reviews 23, 2004; correction 2009), for
// the circular block bootstrap. At least 1, at most a quarter of the cells.
size_t BlockLength(const WorkRun& run);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_RATIO_H_
