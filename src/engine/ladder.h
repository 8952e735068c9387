// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_LADDER_H_
#define GPUWHY_ENGINE_LADDER_H_

#include <vector>

#include "engine/analysis.h"
#include "model/report.h"

namespace gpuwhy {

// What the five rungs say and what follows for the job.
struct Ladder {
  std::vector<WitnessStatement> rungs;  // framework, cuda, os, driver, device: always five
  GpuUsed gpu_used = GpuUsed::kUnknown;
  double confidence = 0;
  bool worked = false;    // at least one step, or 20 s of CPU time
  bool disagree = false;  // two rungs contradict each other
  const WitnessStatement& rung(Source source) const { return rungs[static_cast<size_t>(source)]; }
};

// The evidence ladder: see docs/verdict.md for the table that this follows.
Ladder Climb(const Evidence& evidence, const Analysis& analysis);

// The same for a pasted text.
Ladder ClimbText(const Evidence& evidence);

// One rung each, in files of their own.
WitnessStatement AskFramework(const Evidence& evidence, const Analysis& analysis);
WitnessStatement AskCuda(const Evidence& evidence, const Analysis& analysis);
WitnessStatement AskOs(const Evidence& evidence, const Analysis& analysis);
WitnessStatement AskDriver(const Evidence& evidence, const Analysis& analysis);
WitnessStatement AskDevice(const Evidence& evidence, const Analysis& analysis);

// Some of the GPUs or processes of a job did no work although others did.
// GPUs of the first kind: the job holds memory on them, they stood still, and another one of the job's worked.
std::vector<Entity> HeldIdleGpus(const Evidence& evidence, const Analysis& analysis);
bool SomeDidNoWork(const Evidence& evidence, const Analysis& analysis);

// Job that works: the contract's line between "did nothing yet" and "ran without the GPU".
inline constexpr double kWorkedCpuSeconds = 20;

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_LADDER_H_
