// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_COMPARE_H_
#define GPUWHY_ENGINE_COMPARE_H_

#include <string>
#include <vector>

#include "engine/analysis.h"
#include "engine/pace.h"
#include "model/comparison.h"
#include "model/evidence.h"
#include "model/report.h"

namespace gpuwhy {

// One recorded session of a job with what was concluded from it.
struct SessionSide {
  std::string name, started;
  Evidence evidence;
  Report report;
  size_t damaged_lines = 0;  // that could not be read, a cut last one included
  size_t fingerprint = 0;    // equal for equal bytes
};

// A session and what the comparison needs of it.
struct Measured {
  const SessionSide* session = nullptr;
  Analysis analysis;
  std::optional<Pace> pace;
};

// Between separate processes of one and the same job the speed has differed by so much (measured on a virtual machine
// with an H200): one process a side cannot tell a smaller change from that.
inline constexpr double kProcessDrift = 0.2;

// `before` and `after` hold at least one session each. Deterministic: no clock, no files, a fixed seed.
Comparison Compare(const std::vector<SessionSide>& before, const std::vector<SessionSide>& after);

// Parts of Compare, in files of their own.
void CompareSpeed(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out);
void CompareSettings(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out);
void CompareReports(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out);
void AddCaveats(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_COMPARE_H_
