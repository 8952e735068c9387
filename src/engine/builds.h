// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_BUILDS_H_
#define GPUWHY_ENGINE_BUILDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/lookup.h"
#include "knowledge/tables.h"

// What is known of the builds of the job's frameworks: by their own word, by their version, by the tables.
namespace gpuwhy {

struct KnownBuild {
  FrameworkSeen seen;  // `cuda` also from the local version: 2.6.0+cu126 is built for CUDA 12.6, +cpu for none
  const knowledge::FrameworkBuild* build = nullptr;  // the table's row of that version; nullptr = not known

  // CUDA that it was built for, "" when it is unknown or there is none.
  std::string built_for() const;
};

// FrameworksSeen, and the frameworks of which a text says something without naming a version.
std::vector<KnownBuild> BuildsSeen(const RuleContext& context);

// Windows itself, not WSL: by what the text shows (a prompt, Python's banner, the driver model) or the witness says.
bool NativeWindows(const Evidence& evidence);
// "windows", "macos", "linux" (also WSL) or "" for the tables.
std::string_view SystemOf(const Evidence& evidence);

// TensorFlow 2.11 or newer on native Windows: the package has no CUDA, whatever is installed.
bool TensorFlowWithoutCuda(const KnownBuild& known, const Evidence& evidence);

// Compute capabilities that a build covers, in the table's form: "7.5 8.0 9.0+PTX"; "" = unknown.
struct Coverage {
  std::string archs;
  const Fact* list = nullptr;  // the framework's own word (names such as sm_75, compute_90), else the table's
};
Coverage CoverageOf(const RuleContext& context, const KnownBuild& known);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_BUILDS_H_
