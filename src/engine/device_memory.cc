// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/device_memory.h"

#include <algorithm>

#include "engine/lookup.h"

namespace gpuwhy {
namespace {

constexpr double kAlways = 1e18;  // end of every series, in seconds

}  // namespace

std::optional<double> DeviceBytes(const RuleContext& context) {
  // CUDA's number first: of a MIG instance it is the instance's, and the part that the driver keeps is left out.
  const Fact* total = MainFact(context, "framework.torch.device.0.total_bytes");
  if (total == nullptr || !total->value.AsDouble())
    total = context.evidence.Find("gpu.memory.total.bytes", Entity::Gpu(context.analysis.gpu));
  const std::optional<double> bytes = total != nullptr ? total->value.AsDouble() : std::nullopt;
  return bytes && *bytes > 0 ? bytes : std::nullopt;
}

std::optional<double> HeldByOthers(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const std::optional<double> used =
      MaxOf(evidence.Samples("gpu.memory.used.bytes", Entity::Gpu(context.analysis.gpu)), 0, kAlways);
  const Entity process = Entity::Process(context.analysis.main_pid);
  const std::optional<double> own = MaxOf(evidence.Samples("framework.memory.reserved.bytes", process), 0, kAlways);
  if (!used || !own) return std::nullopt;
  return std::max(0.0, *used - *own);
}

}  // namespace gpuwhy
