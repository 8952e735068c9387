// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_PACE_H_
#define GPUWHY_ENGINE_PACE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/analysis.h"
#include "engine/ratio.h"
#include "model/evidence.h"

namespace gpuwhy {

// How fast one process worked in its steady state, warm-up left out, and how that was seen.
struct Pace {
  enum class Seen {
    kMarks,   // step marks of the framework
    kTotals,  // readings of the step counter, about one a second (Keras tells no single step)
    kKernels  // one sequence of kernels that repeats in a timing window: says nothing of the time outside it
  };
  Seen seen = Seen::kMarks;
  double seconds = 0, steps = 0;  // steps: repetitions of the sequence under kKernels
  std::optional<double> samples;  // all of the stretch; nothing where the job's loader or batch size was not seen
  WorkRun by_step, by_sample;     // the same stretches, counted in steps and in samples (empty without samples)
  std::string sequence;           // kKernels: what repeats; equal texts stand for equal GPU work
};

// Pace of the main process. Nothing when it made too few steps (warm-up and two more) and no kernels repeat.
std::optional<Pace> FindPace(const Evidence& evidence, const Analysis& analysis);

// The kernels' part of it: the shortest sequence (names and launch sizes) that fills the longest timing window of the
// process, at least 8 times over.
std::optional<Pace> FindKernelPace(const Evidence& evidence, int64_t pid);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_PACE_H_
