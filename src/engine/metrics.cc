// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "engine/analysis.h"
#include "model/metric.h"

namespace gpuwhy {
namespace {

void Put(Analysis& analysis, const std::string& name, std::optional<double> value, std::string_view source) {
  analysis.metrics[name] = {value, std::string(UnitOf(name)), value ? State::kValue : State::kUnknown,
                            std::string(source)};
}

// Readings of the job's GPU over its life: the mean of a gauge, the increase of a counter.
void PutGpuSeries(const Evidence& evidence, Analysis& analysis) {
  const double end_s = analysis.wall_s > 0 ? analysis.wall_s : 1e18;
  for (const Metric& metric : Metrics()) {
    if (metric.name.rfind("gpu.", 0) != 0 || analysis.gpu.empty()) continue;
    const Series& series = evidence.Samples(metric.name, Entity::Gpu(analysis.gpu));
    if (series.empty()) continue;
    Put(analysis, std::string(metric.name),
        metric.kind == MetricKind::kCounter ? IncreaseOf(series, 0, end_s) : MeanOf(series, 0, end_s), "device");
  }
  const auto duty = analysis.metrics.find("gpu.utilization.ratio");
  if (duty != analysis.metrics.end()) Put(analysis, "run.duty_cycle.ratio", duty->second.value, "device");
}

void PutSteady(Analysis& analysis) {
  if (!analysis.steady) return;
  const SteadyState& steady = *analysis.steady;
  const double seconds = steady.seconds();
  const auto steps = static_cast<double>(steady.steps);
  Put(analysis, "run.steady.seconds", seconds, "framework");
  Put(analysis, "run.steps.count", steps, "framework");
  Put(analysis, "run.step.seconds", seconds / steps, "framework");
  Put(analysis, "input.wait.ratio", steady.wait_s / seconds, "framework");
  Put(analysis, "checkpoint.ratio", steady.save_s / seconds, "framework");
  Put(analysis, "agent.hook.seconds_per_step", steady.hook_s / steps, "framework");
  if (steady.items > 0) Put(analysis, "run.items_per_second", static_cast<double>(steady.items) / seconds, "framework");
  if (analysis.breakdown) {
    const GpuSplit& split = analysis.window->in_wait;
    const double overlapped = split.total() > 0 ? split.busy() / split.total() : 0;
    Put(analysis, "input.exposed.ratio", analysis.breakdown->input_wait, "cuda");
    Put(analysis, "input.overlapped.ratio", steady.wait_s / seconds * overlapped, "cuda");
  }
}

void PutWindow(Analysis& analysis) {
  Put(analysis, "window.kernels.count",
      analysis.windows > 0 || analysis.kernels_total > 0
          ? std::optional<double>(static_cast<double>(analysis.kernels_total))
          : std::nullopt,
      "cuda");
  if (!analysis.window || analysis.window->seconds <= 0) return;
  const WindowView& window = *analysis.window;
  Put(analysis, "window.seconds", window.seconds, "cuda");
  Put(analysis, "run.gpu_busy.ratio", window.kernel_s / window.seconds, "cuda");
  Put(analysis, "window.launches_per_second", static_cast<double>(window.kernels) / window.seconds, "cuda");
  if (window.kernels > 0) Put(analysis, "window.kernel.median.seconds", window.median_kernel_s, "cuda");
  Put(analysis, "window.copy.pageable.bytes", static_cast<double>(window.pageable_bytes), "cuda");
  Put(analysis, "window.copy.pinned.bytes", static_cast<double>(window.pinned_bytes), "cuda");
  Put(analysis, "window.copy.pageable.ratio", window.pageable_copy_s / window.seconds, "cuda");
}

void PutHost(Analysis& analysis) {
  if (analysis.breakdown) {
    Put(analysis, "host.own_work.ratio", analysis.breakdown->host_work, "cuda");
    Put(analysis, "host.compiling.ratio", analysis.breakdown->compiling, "cuda");
  }
  if (!analysis.host) return;
  Put(analysis, "host.looks.count", static_cast<double>(analysis.host->looks), "framework");
  // In the order of the wire format's host_category; garbage collections leave no frame.
  constexpr const char* kNames[] = {"other", "input", "sync", "dispatch", "checkpoint", nullptr, "compile", "idle"};
  static_assert(std::size(kNames) == HostView::kCategories);
  for (size_t category = 0; category < HostView::kCategories; ++category) {
    if (kNames[category] == nullptr) continue;
    Put(analysis, std::string("host.looks.") + kNames[category] + ".ratio", analysis.host->share(category),
        "framework");
  }
}

}  // namespace

void FillMetrics(const Evidence& evidence, Analysis& analysis) {
  if (analysis.wall_s > 0) Put(analysis, "run.wall.seconds", analysis.wall_s, "os");
  if (analysis.cpu_s > 0) Put(analysis, "job.cpu.seconds", analysis.cpu_s, "os");
  PutGpuSeries(evidence, analysis);
  PutSteady(analysis);
  PutWindow(analysis);
  PutHost(analysis);
  if (analysis.sync && analysis.sync->seconds > 0) {
    Put(analysis, "window.sync.ratio", analysis.sync->blocked_s / analysis.sync->seconds, "cuda");
    Put(analysis, "window.syncs_per_second", static_cast<double>(analysis.sync->syncs) / analysis.sync->seconds,
        "cuda");
  }
  double cost = 0;
  bool cost_known = false;
  for (const Fact* fact : evidence.All("cuda.window_cost.seconds")) {
    cost_known = cost_known || fact->value.known();
    cost += fact->value.AsDouble().value_or(0);
  }
  if (cost_known) Put(analysis, "window.cost.seconds", cost, "cuda");
  analysis.window_cost_s = cost;
}

}  // namespace gpuwhy
