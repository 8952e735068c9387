// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ladder.h"

#include <algorithm>

namespace gpuwhy {
namespace {

bool IsCandidate(const Evidence& evidence, const Analysis& analysis, const Entity& entity) {
  const bool ours = std::find(analysis.processes.begin(), analysis.processes.end(), entity.pid()) != analysis.processes.end();
  return !ours && MaxOf(evidence.Samples("process.gpu.sm.ratio", entity), 0, 1e18).value_or(0) > 0;
}

// Device load can only be ours when nobody else could have made it.
bool OthersWork(const Evidence& evidence, const Analysis& analysis) {
  const std::vector<Entity> entities = evidence.Entities(EntityKind::kProcessOnGpu);
  return std::any_of(entities.begin(), entities.end(), [&](const Entity& entity) { return IsCandidate(evidence, analysis, entity); });
}

// The statements that the framework or the driver itself makes about this job: stated, not inferred.
bool SaysItCannot(const WitnessStatement& framework) {
  for (const char* key : {"torch_cpu_build", "torch_not_available", "torch_not_available_because", "tensorflow_cpu_build", "tensorflow_no_gpu", "jax_on_cpu"}) {
    if (framework.says == std::string("witness.framework.") + key) return true;
  }
  return false;
}

void Decide(const Evidence& evidence, const Analysis& analysis, Ladder& ladder) {
  const WitnessStatement &framework = ladder.rung(Source::kFramework), &cuda = ladder.rung(Source::kCuda), &os = ladder.rung(Source::kOs), &driver = ladder.rung(Source::kDriver),
                         &device = ladder.rung(Source::kDevice);
  if (cuda.gpu_used == GpuUsed::kYes) {
    const bool partly = framework.gpu_used == GpuUsed::kPartly || framework.gpu_used == GpuUsed::kNo;
    ladder.gpu_used = partly ? GpuUsed::kPartly : GpuUsed::kYes;
    ladder.confidence = partly ? 0.8 : 0.95;
    ladder.disagree = framework.gpu_used == GpuUsed::kNo;
    return;
  }
  if (SaysItCannot(framework)) {
    ladder.gpu_used = GpuUsed::kNo;
    ladder.confidence = 0.95;
    return;
  }
  const auto silent = [](const WitnessStatement& rung) { return rung.gpu_used == GpuUsed::kNo || rung.state != "ok"; };
  const int denials = static_cast<int>(framework.gpu_used == GpuUsed::kNo) + static_cast<int>(cuda.gpu_used == GpuUsed::kNo) + static_cast<int>(os.gpu_used == GpuUsed::kNo);
  const bool framework_silent = silent(framework) || framework.says == "witness.framework.torch_seen" || framework.says == "witness.framework.torch_sees_gpus";
  // 0 kernels in every window is rung 2 saying none; an open device (rung 3) proves nothing against it.
  const bool os_silent = silent(os) || cuda.gpu_used == GpuUsed::kNo || (framework.gpu_used == GpuUsed::kNo && analysis.late_windows > 0 && analysis.late_kernels == 0);
  const bool cuda_silent = silent(cuda) || (framework.gpu_used == GpuUsed::kNo && analysis.late_windows > 0 && analysis.late_kernels == 0);
  if (ladder.worked && denials > 0 && framework_silent && cuda_silent && os_silent) {
    ladder.gpu_used = GpuUsed::kNo;
    ladder.confidence = denials >= 2 ? 0.95 : 0.8;
    return;
  }
  if (cuda.gpu_used == GpuUsed::kNo && (framework.gpu_used == GpuUsed::kYes || driver.gpu_used == GpuUsed::kYes)) {
    ladder.disagree = true;
    return;
  }
  const bool cuda_cannot = cuda.state != "ok";
  if (cuda_cannot && driver.gpu_used == GpuUsed::kYes) {
    ladder.gpu_used = framework.gpu_used == GpuUsed::kPartly ? GpuUsed::kPartly : GpuUsed::kYes;
    ladder.confidence = 0.8;
    return;
  }
  const bool near = framework.gpu_used == GpuUsed::kYes || os.says == "witness.os.device_open";
  if (cuda_cannot && near && device.gpu_used == GpuUsed::kYes && !OthersWork(evidence, analysis)) {
    ladder.gpu_used = GpuUsed::kYes;
    ladder.confidence = framework.gpu_used == GpuUsed::kYes ? 0.8 : 0.6;
  }
}

}  // namespace

Ladder Climb(const Evidence& evidence, const Analysis& analysis) {
  Ladder ladder;
  ladder.rungs = {AskFramework(evidence, analysis), AskCuda(evidence, analysis), AskOs(evidence, analysis), AskDriver(evidence, analysis), AskDevice(evidence, analysis)};
  ladder.worked = analysis.steps_total >= 1 || analysis.cpu_s >= kWorkedCpuSeconds;
  Decide(evidence, analysis, ladder);
  return ladder;
}

}  // namespace gpuwhy
