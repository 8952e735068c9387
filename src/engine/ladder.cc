// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ladder.h"

#include <algorithm>

namespace gpuwhy {
namespace {

// Without a later window the first kernels speak for the steady state of a short job only.
constexpr double kShortJobSeconds = 60;

bool IsCandidate(const Evidence& evidence, const Analysis& analysis, const Entity& entity) {
  const bool ours =
      std::find(analysis.processes.begin(), analysis.processes.end(), entity.pid()) != analysis.processes.end();
  return !ours && MaxOf(evidence.Samples("process.gpu.sm.ratio", entity), 0, 1e18).value_or(0) > 0;
}

// Device load can only be ours when nobody else could have made it.
bool OthersWork(const Evidence& evidence, const Analysis& analysis) {
  const std::vector<Entity> entities = evidence.Entities(EntityKind::kProcessOnGpu);
  return std::any_of(entities.begin(), entities.end(),
                     [&](const Entity& entity) { return IsCandidate(evidence, analysis, entity); });
}

// The statements that the framework or the driver itself makes about this job: stated, not inferred.
bool SaysItCannot(const WitnessStatement& framework) {
  for (const char* key : {"torch_cpu_build", "torch_not_available", "torch_not_available_because",
                          "tensorflow_cpu_build", "tensorflow_no_gpu", "jax_on_cpu"}) {
    if (framework.says == std::string("witness.framework.") + key) return true;
  }
  return false;
}

class Decision {
 public:
  Decision(const Evidence& evidence, const Analysis& analysis, Ladder& ladder)
      : evidence_(evidence),
        analysis_(analysis),
        ladder_(ladder),
        framework_(ladder.rung(Source::kFramework)),
        cuda_(ladder.rung(Source::kCuda)),
        os_(ladder.rung(Source::kOs)),
        driver_(ladder.rung(Source::kDriver)),
        device_(ladder.rung(Source::kDevice)) {}

  void Make() {
    if (cuda_.gpu_used == GpuUsed::kYes) return ByKernels();
    if (driver_.gpu_used == GpuUsed::kYes) return ByDriver();
    if (SaysItCannot(framework_)) return Answer(GpuUsed::kNo, 0.95);
    if (driver_.says == "witness.driver.no_gpu" && !analysis_.processes.empty()) return Answer(GpuUsed::kNo, 0.95);
    if (cuda_.gpu_used == GpuUsed::kNo && FrameworkPointsToGpu()) {
      ladder_.disagree = true;
      return;
    }
    if (BySilence()) return;
    ByDevice();
  }

 private:
  void Answer(GpuUsed used, double confidence) {
    ladder_.gpu_used = used;
    ladder_.confidence = confidence;
  }

  bool FrameworkPointsToGpu() const {
    return framework_.gpu_used == GpuUsed::kYes || framework_.gpu_used == GpuUsed::kPartly;
  }

  // The framework trains on the CPU. One that merely says that it cannot, and makes no step, leaves the GPU to another
  // library.
  bool TrainsOnCpu() const {
    return framework_.gpu_used == GpuUsed::kNo && (!SaysItCannot(framework_) || analysis_.steps_total > 0);
  }

  void ByKernels() {
    ladder_.disagree = TrainsOnCpu();
    if (TrainsOnCpu() || framework_.gpu_used == GpuUsed::kPartly || SomeDidNoWork(evidence_, analysis_))
      return Answer(GpuUsed::kPartly, 0.8);
    if (framework_.gpu_used == GpuUsed::kNo) return Answer(GpuUsed::kYes, 0.8);
    if (analysis_.late_kernels > 0 || analysis_.wall_s < kShortJobSeconds) return Answer(GpuUsed::kYes, 0.95);
    Answer(GpuUsed::kYes, FrameworkPointsToGpu() || driver_.gpu_used == GpuUsed::kYes ? 0.8 : 0.6);
  }

  void ByDriver() {
    if (cuda_.state == "ok") {
      ladder_.disagree = cuda_.gpu_used == GpuUsed::kNo;
      return;
    }
    ladder_.disagree = TrainsOnCpu();
    const bool partly = TrainsOnCpu() || framework_.gpu_used == GpuUsed::kPartly || SomeDidNoWork(evidence_, analysis_);
    Answer(partly ? GpuUsed::kPartly : GpuUsed::kYes, 0.8);
  }

  // The job worked, and every rung of 1 to 3 that can speak says none. That a framework sees a device or that a device
  // is open proves nothing against 0 kernels in every window.
  bool BySilence() {
    const auto denies = [](const WitnessStatement& rung) { return rung.gpu_used == GpuUsed::kNo; };
    const auto silent = [&](const WitnessStatement& rung) { return denies(rung) || rung.state != "ok"; };
    const int denials =
        static_cast<int>(denies(framework_)) + static_cast<int>(denies(cuda_)) + static_cast<int>(denies(os_));
    const bool late_windows_empty = analysis_.late_windows > 0 && analysis_.late_kernels == 0;
    const bool started_only =
        denies(framework_) && late_windows_empty;  // a few kernels at the start, the model on the CPU
    if (!ladder_.worked || denials == 0 || FrameworkPointsToGpu()) return false;
    if (!silent(cuda_) && !started_only) return false;
    if (!silent(os_) && !denies(cuda_) && !started_only) return false;
    Answer(GpuUsed::kNo, denials >= 2 ? 0.95 : 0.8);
    return true;
  }

  void ByDevice() {
    const bool near = FrameworkPointsToGpu() || os_.says == "witness.os.device_open";
    if (cuda_.state == "ok" || !near || device_.gpu_used != GpuUsed::kYes || OthersWork(evidence_, analysis_)) return;
    Answer(framework_.gpu_used == GpuUsed::kPartly ? GpuUsed::kPartly : GpuUsed::kYes,
           FrameworkPointsToGpu() ? 0.8 : 0.6);
  }

  const Evidence& evidence_;
  const Analysis& analysis_;
  Ladder& ladder_;
  const WitnessStatement &framework_, &cuda_, &os_, &driver_, &device_;
};

}  // namespace

Ladder Climb(const Evidence& evidence, const Analysis& analysis) {
  Ladder ladder;
  ladder.rungs = {AskFramework(evidence, analysis), AskCuda(evidence, analysis), AskOs(evidence, analysis),
                  AskDriver(evidence, analysis), AskDevice(evidence, analysis)};
  ladder.worked = analysis.steps_total >= 1 || analysis.cpu_s >= kWorkedCpuSeconds;
  Decision(evidence, analysis, ladder).Make();
  return ladder;
}

}  // namespace gpuwhy
