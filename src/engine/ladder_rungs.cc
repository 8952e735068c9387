// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "engine/ladder.h"

namespace gpuwhy {
namespace {

// Readings above these lines say that somebody computes; single per cent come from a desktop or from rounding.
constexpr double kBusyDevice = 0.05;
constexpr double kBusyProcess = 0.01;

WitnessStatement Say(Source rung, GpuUsed used, std::string key, std::map<std::string, std::string> params = {}) {
  return {rung, used, "witness." + std::string(SourceName(rung)) + "." + key, std::move(params), "ok", ""};
}

WitnessStatement Cannot(Source rung, std::string key, std::string state, std::string why) {
  return {rung,           GpuUsed::kUnknown, "witness." + std::string(SourceName(rung)) + "." + key,
          {{"why", why}}, std::move(state),  why};
}

bool AnyTrue(const Evidence& evidence, std::string_view name) {
  const std::vector<const Fact*> facts = evidence.All(name);
  return std::any_of(facts.begin(), facts.end(), [](const Fact* fact) { return fact->value.AsBool() == true; });
}

bool AnyKnown(const Evidence& evidence, std::string_view name) {
  const std::vector<const Fact*> facts = evidence.All(name);
  return std::any_of(facts.begin(), facts.end(), [](const Fact* fact) { return fact->value.known(); });
}

// "One sample never decides" (docs/verdict.md).
constexpr long kEnoughSamples = 2;

bool Repeated(const Series& series, double line) {
  return std::count_if(series.begin(), series.end(), [line](const Point& point) { return point.value >= line; }) >=
         kEnoughSamples;
}

std::string Percent(double ratio) { return Format("{:.0f}", ratio * 100); }

}  // namespace

WitnessStatement AskCuda(const Evidence& evidence, const Analysis& analysis) {
  const Source rung = Source::kCuda;
  if (analysis.late_kernels > 0) {
    const double busy =
        analysis.window && analysis.window->seconds > 0 ? analysis.window->kernel_s / analysis.window->seconds : 0;
    return Say(rung, GpuUsed::kYes, "kernels",
               {{"count", std::to_string(analysis.late_kernels)}, {"busy", Percent(busy)}});
  }
  if (analysis.late_windows > 0) {
    const bool at_start = analysis.kernels_total > 0;
    return Say(rung, at_start ? GpuUsed::kUnknown : GpuUsed::kNo, at_start ? "kernels_only_at_start" : "no_kernels",
               {{"count", std::to_string(analysis.kernels_total)}, {"windows", std::to_string(analysis.windows)}});
  }
  if (analysis.kernels_total > 0)
    return Say(rung, GpuUsed::kYes, "kernels_at_start", {{"count", std::to_string(analysis.kernels_total)}});
  if (analysis.windows > 0)
    return Say(rung, GpuUsed::kNo, "no_kernels", {{"count", "0"}, {"windows", std::to_string(analysis.windows)}});
  if (const Fact* state = evidence.Find("cuda.state"); state != nullptr && state->value.AsText().has_value()) {
    return Cannot(rung, "not_watching", "unavailable", *state->value.AsText());
  }
  // The library waits for the first context from cuInit on: without one no kernel can have run.
  if (evidence.Find("cuda.driver.version") != nullptr) return Say(rung, GpuUsed::kNo, "no_context");
  // The library is loaded by cuInit itself: where it was never asked for, CUDA was never started.
  const bool injected = evidence.Bool("cuda.injected") == true;
  if (injected && AnyKnown(evidence, "process.libcuda") && !AnyTrue(evidence, "process.libcuda"))
    return Say(rung, GpuUsed::kNo, "never_started");
  if (!injected)
    return Cannot(rung, "not_injected", "unavailable", evidence.Text("cuda.not_injected_why").value_or(""));
  return Cannot(rung, "no_window", "unavailable", "");
}

WitnessStatement AskOs(const Evidence& evidence, const Analysis& analysis) {
  const Source rung = Source::kOs;
  if (!AnyKnown(evidence, "process.libcuda")) {
    const Fact* fact = evidence.Find("process.libcuda");
    return Cannot(rung, "unavailable",
                  fact != nullptr && fact->value.state == State::kNoPermission ? "no-permission" : "unavailable",
                  fact != nullptr ? fact->value.why : "");
  }
  const std::string cpu = Format("{:.1f}", analysis.cpu_s);
  if (AnyTrue(evidence, "process.gpu_device_open")) return Say(rung, GpuUsed::kUnknown, "device_open", {{"cpu", cpu}});
  if (AnyTrue(evidence, "process.libcuda")) return Say(rung, GpuUsed::kUnknown, "libcuda_mapped", {{"cpu", cpu}});
  return Say(rung, GpuUsed::kNo, "no_libcuda", {{"cpu", cpu}});
}

WitnessStatement AskDriver(const Evidence& evidence, const Analysis& analysis) {
  const Source rung = Source::kDriver;
  const std::optional<bool> ok = evidence.Bool("driver.nvml.ok");
  if (ok != true) {
    const Fact* text = evidence.Find("driver.nvml.error_text");
    const std::string why = text != nullptr ? text->value.AsText().value_or(text->value.why) : "";
    const std::optional<int64_t> code = evidence.Int("driver.nvml.error");
    return Cannot(rung, ok == false ? "nvml_failed" : "unavailable", code == 4 ? "no-permission" : "unavailable", why);
  }
  if (evidence.Entities(EntityKind::kGpu).empty()) return Say(rung, GpuUsed::kNo, "no_gpu");
  bool listed = false, busy = false;
  double highest = 0;
  for (const int64_t pid : analysis.processes) {
    for (const Entity& entity : evidence.Entities(EntityKind::kProcessOnGpu)) {
      if (entity.pid() != pid) continue;
      listed = true;
      const Series& series = evidence.Samples("process.gpu.sm.ratio", entity);
      highest = std::max(highest, MaxOf(series, 0, 1e18).value_or(0));
      busy = busy || Repeated(series, kBusyProcess);
    }
  }
  const std::string version = evidence.Text("driver.version").value_or("?");
  if (busy) return Say(rung, GpuUsed::kYes, "process_busy", {{"sm", Percent(highest)}, {"version", version}});
  if (listed) return Say(rung, GpuUsed::kUnknown, "process_listed", {{"version", version}});
  if (evidence.Bool("host.pid_namespace") != false)
    return Say(rung, GpuUsed::kUnknown, "pid_namespace", {{"version", version}});
  return Say(rung, analysis.processes.empty() ? GpuUsed::kUnknown : GpuUsed::kNo,
             analysis.processes.empty() ? "no_job" : "process_not_listed", {{"version", version}});
}

WitnessStatement AskDevice(const Evidence& evidence, const Analysis& analysis) {
  const Source rung = Source::kDevice;
  std::optional<double> mean, power;
  size_t readings = 0;
  for (const Entity& gpu : evidence.EntitiesWith("gpu.utilization.ratio")) {
    if (!analysis.gpu.empty() && gpu.id != analysis.gpu) continue;
    const std::optional<double> own = MeanOf(evidence.Samples("gpu.utilization.ratio", gpu), 0, 1e18);
    if (own && (!mean || *own > *mean)) {
      mean = own;
      readings = evidence.Samples("gpu.utilization.ratio", gpu).size();
      power = MeanOf(evidence.Samples("gpu.power.watts", gpu), 0, 1e18);
    }
  }
  if (!mean) {
    const Fact* fact = evidence.Find("gpu.utilization.state");
    return Cannot(rung, "unavailable", fact != nullptr ? std::string("not-supported") : std::string("unavailable"),
                  fact != nullptr ? fact->value.Show() : "");
  }
  const std::map<std::string, std::string> params = {{"duty", Percent(*mean)},
                                                     {"power", power ? Format("{:.0f}", *power) : "?"}};
  const bool enough = readings >= static_cast<size_t>(kEnoughSamples);
  if (*mean >= kBusyDevice)
    return Say(rung, enough ? GpuUsed::kYes : GpuUsed::kUnknown, power ? "busy_power" : "busy", params);
  return Say(rung, *mean < 0.005 && enough ? GpuUsed::kNo : GpuUsed::kUnknown, power ? "idle_power" : "idle", params);
}

}  // namespace gpuwhy
