// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "engine/ladder.h"

namespace gpuwhy {
namespace {

constexpr double kNobodyWorked = 0.005;  // NVML's duty cycle comes in whole per cent: below one is none
constexpr double kSomebodyWorked = 0.05;
constexpr size_t kEnoughReadings = 5;  // one reading of 0 % proves nothing

bool IsOurs(const Analysis& analysis, int64_t pid) {
  return std::find(analysis.processes.begin(), analysis.processes.end(), pid) != analysis.processes.end();
}

}  // namespace

// A GPU on which the job holds memory stood still while another one of the job's worked.
std::vector<Entity> HeldIdleGpus(const Evidence& evidence, const Analysis& analysis) {
  std::vector<Entity> idle;
  bool busy = false;
  for (const Entity& entity : evidence.EntitiesWith("process.gpu.memory.bytes")) {
    if (!IsOurs(analysis, entity.pid())) continue;
    const Series& duty = evidence.Samples("gpu.utilization.ratio", Entity::Gpu(entity.gpu()));
    if (duty.size() < kEnoughReadings) continue;
    if (MaxOf(duty, 0, 1e18).value_or(1) < kNobodyWorked) idle.push_back(Entity::Gpu(entity.gpu()));
    busy = busy || MeanOf(duty, 0, 1e18).value_or(0) >= kSomebodyWorked;
  }
  return busy ? idle : std::vector<Entity>{};
}

namespace {

// A process had late windows like the others, but in no window a kernel.
bool HasIdleRank(const Evidence& evidence, const Analysis& analysis) {
  std::set<int64_t> watched;
  for (const Span& span : evidence.spans()) {
    if (span.kind == SpanKind::kWindow && (span.detail[0] == 2 || span.detail[0] == 4))
      watched.insert(span.pid);  // timing, permanent
  }
  const std::vector<int64_t>& working = analysis.kernel_processes;
  const auto idle = [&](int64_t pid) { return std::find(working.begin(), working.end(), pid) == working.end(); };
  return !working.empty() && std::any_of(watched.begin(), watched.end(), idle);
}

}  // namespace

bool SomeDidNoWork(const Evidence& evidence, const Analysis& analysis) {
  return !HeldIdleGpus(evidence, analysis).empty() || HasIdleRank(evidence, analysis);
}

}  // namespace gpuwhy
