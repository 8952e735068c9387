// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_LOOKUP_H_
#define GPUWHY_ENGINE_LOOKUP_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/rule.h"

// Questions that several rules ask of the evidence. All answer "unknown" (nothing) rather than guess.
namespace gpuwhy {

// Is there an NVIDIA GPU in this machine? By the PCI bus, by NVML, or by WSL's device.
std::optional<bool> GpuPresent(const Evidence& evidence);

// A framework that a process of the job (or, in doctor, an interpreter) has.
struct FrameworkSeen {
  std::string name;  // pytorch, tensorflow, jax
  std::string version;
  std::optional<std::string> cuda;  // CUDA that it was built for: "" = built without
  std::optional<bool> sees_gpu;     // its own word
  std::string error;                // why not, in its own words
  const Fact* version_fact = nullptr;
  const Fact* cuda_fact = nullptr;
  const Fact* sees_fact = nullptr;
  bool in_job = false;  // false: only installed
  bool idle = false;    // imported, but it says that it was never started
};
// One that is idle beside another of the job is left out: libraries import frameworks that the job never uses.
std::vector<FrameworkSeen> FrameworksSeen(const RuleContext& context);

// CPU cores that the job may use: affinity and the quota of its cgroup, whichever is less.
std::optional<double> CoresAllowed(const Evidence& evidence);

// Fact of the main process, whoever else has one of that name.
const Fact* MainFact(const RuleContext& context, const std::string& name);

// Fact of the DataLoader for which the main process waited longest; nullptr when no loader was seen.
const Fact* LoaderFact(const RuleContext& context, const std::string& name);

// Text pieces that name a share or a factor: "43 %", "1.8".
std::string ShowPercent(double ratio);
std::string ShowFactor(double factor);

// Finding for time that could be saved at most: share, severity by share, upper bound of the gain 1 / (1 - share).
Finding TimeFinding(const Rule& rule, double share, double confidence);

// Adds an item if there is one.
void AddItem(Finding& finding, std::optional<EvidenceItem> item);
void AddItem(Finding& finding, const Fact* fact);
// The same, but a line of a text that another item quotes already is not quoted again.
void AddLine(Finding& finding, const Fact* fact);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_LOOKUP_H_
