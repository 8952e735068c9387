// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_PROGRESS_TIMINGS_H_
#define GPUWHY_READER_PROGRESS_TIMINGS_H_

#include <optional>
#include <string_view>

namespace gpuwhy::progress {

// A figure of a progress line in seconds: "Time 10.452 (5.893)" has the value of this step and its running mean.
struct Timing {
  double value = 0;
  std::optional<double> mean;
};

// What a progress line says about a step and about the part of it that went into fetching data.
struct StepTimings {
  Timing batch;
  Timing data;
};

// "Time 10.452 (5.893) Data 10.404 (5.632)" (PyTorch's ImageNet example), "time: 0.516, data_time: 0.064" (mmengine,
// detectron2), "Time: 0.345s, 741.63/s (0.512s, 500.12/s) ... Data: 0.010 (0.153)" (timm). Nothing unless both are
// there.
std::optional<StepTimings> ReadTimings(std::string_view line);

// Share 0..1 of the time that a row of a profiler's table gives to loading data; nothing for other rows.
std::optional<double> ReadInputShare(std::string_view line);

// Seconds of a step that a progress bar shows ("3.80s/it", "4.5it/s", "20ms/step"); nothing when it shows none.
std::optional<double> ReadStepSeconds(std::string_view line);

// A progress bar or a line with a step and its loss: the job was working.
bool ShowsSteps(std::string_view line);

// Gigabytes of the column GPU_mem behind "epoch/epochs" ("1/25  0G  1.182 ..."); nothing for other lines.
std::optional<double> ReadGpuMemoryColumn(std::string_view line);

}  // namespace gpuwhy::progress

#endif  // GPUWHY_READER_PROGRESS_TIMINGS_H_
