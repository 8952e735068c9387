// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_MACHINE_H_
#define GPUWHY_SESSION_MACHINE_H_

#include <string>
#include <vector>

#include "model/evidence.h"
#include "model/report.h"

namespace gpuwhy {

// What a look at a machine without a job was for. It stands in the evidence as the fact session.kind, so that a
// recorded look is judged like a fresh one.
inline constexpr const char* kKindFact = "session.kind";
inline constexpr const char* kKindSnapshot = "snapshot";
inline constexpr const char* kKindDoctor = "doctor";
// A pasted text that was read, not a machine that was looked at.
inline constexpr const char* kKindText = "text";

// One reading of the GPUs and of who uses them. Starts no program, waits for no second sample, asks for no GPM: what
// the driver has buffered must do.
Evidence LookAtGpus();

// The same and toolkits, tools and interpreters: those of `pythons` (paths or names) and those that are found. Runs
// each interpreter once, with a limit of 20 s.
Evidence LookAtMachine(const std::vector<std::string>& pythons);

// Engine's report, with what is different where no job was watched (docs/doctor.md): causes that speak of a job are
// left out, gpu_used is "no" only where nothing could use a GPU, and the readings of every GPU and process join the
// subject. Evidence of a job passes unchanged.
Report Judge(const Evidence& evidence);

// True for the report of a snapshot or of doctor.
bool IsMachineReport(const Report& report);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_MACHINE_H_
