// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/analysis.h"

#include <algorithm>

namespace gpuwhy {
namespace {

void AddPid(std::vector<int64_t>& pids, int64_t pid) {
  if (pid > 0 && std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
}

// A count that came as a floating-point number; what no counter can hold (a damaged session) is none.
uint64_t WholeCount(double value) { return value >= 1 && value < 9e15 ? static_cast<uint64_t>(value) : 0; }

// Steps of each process. Marks and spans are thinned (docs/witnesses/rings.md), the totals of the agent never lose a
// step; Keras leaves train calls and totals but no marks.
std::map<int64_t, uint64_t> CountSteps(const Evidence& evidence) {
  std::map<int64_t, uint64_t> steps, calls;
  for (const StepMark& mark : evidence.steps()) steps[mark.pid] = std::max(steps[mark.pid], mark.index);
  for (const Span& span : evidence.spans()) {
    if (span.kind == SpanKind::kTrainCall) calls[span.pid] += std::max<uint64_t>(1, span.detail[0]);
  }
  for (const auto& [pid, count] : calls) steps[pid] = std::max(steps[pid], count);
  for (const Entity& process : evidence.EntitiesWith("process.steps.count")) {
    const double total = evidence.Samples("process.steps.count", process).back().value;
    if (total > 0) steps[process.pid()] = std::max(steps[process.pid()], WholeCount(total));
  }
  for (const Fact* fact : evidence.All("framework.steps.count")) {
    const int64_t total = fact->value.AsInt().value_or(0);
    if (total > 0) steps[fact->entity.pid()] = std::max(steps[fact->entity.pid()], static_cast<uint64_t>(total));
  }
  return steps;
}

// Counts by process: steps first, kernels second, CPU time last decide which one the verdict is about.
int64_t MainProcess(const Evidence& evidence, const std::vector<int64_t>& pids,
                    const std::map<int64_t, uint64_t>& counted) {
  std::map<int64_t, double> steps, kernels, cpu;
  for (const auto& [pid, count] : counted) steps[pid] = static_cast<double>(count);
  for (const Span& span : evidence.spans()) {
    if (span.kind == SpanKind::kKernel) kernels[span.pid] += 1;
  }
  for (const int64_t pid : pids) {
    const Series& series = evidence.Samples("process.cpu.seconds", Entity::Process(pid));
    if (!series.empty()) cpu[pid] = series.back().value;
    if (evidence.Find("framework.python.version", Entity::Process(pid)) != nullptr) cpu[pid] += 1e-3;
  }
  for (const auto* counts : {&steps, &kernels, &cpu}) {
    const auto best = std::max_element(counts->begin(), counts->end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best != counts->end() && best->second > 0) return best->first;
  }
  return pids.empty() ? 0 : pids.front();
}

void CountWindows(const Evidence& evidence, Analysis& analysis) {
  std::map<int64_t, std::vector<const Span*>> late;
  for (const Span& span : evidence.spans()) {
    if (span.kind != SpanKind::kWindow) continue;
    ++analysis.windows;
    if (span.detail[0] == 2 || span.detail[0] == 4) {  // wire window_mode timing, permanent
      ++analysis.late_windows;
      late[span.pid].push_back(&span);
    }
  }
  for (const Span& span : evidence.spans()) {
    if (span.kind != SpanKind::kKernel) continue;
    ++analysis.kernels_total;
    AddPid(analysis.kernel_processes, span.pid);
    const std::vector<const Span*>& windows = late[span.pid];
    const bool inside = std::any_of(windows.begin(), windows.end(), [&](const Span* w) {
      return w->start_ns <= span.start_ns && span.start_ns < w->end_ns();
    });
    if (inside) ++analysis.late_kernels;
  }
  for (const Entity& process : evidence.EntitiesWith("cuda.kernels.count")) {  // permanent tracing: sums a second
    for (const Point& point : evidence.Samples("cuda.kernels.count", process)) {
      analysis.kernels_total += WholeCount(point.value);
      analysis.late_kernels += WholeCount(point.value);
      if (point.value > 0) AddPid(analysis.kernel_processes, process.pid());
    }
  }
}

// The GPU of the main process: where the driver lists it, else what the framework names, else the only one there is.
std::string GpuOf(const Evidence& evidence, int64_t pid) {
  for (const Entity& entity : evidence.Entities(EntityKind::kProcessOnGpu)) {
    if (entity.pid() == pid) return entity.gpu();
  }
  if (const Fact* fact = evidence.Find("framework.torch.device.0.uuid", Entity::Process(pid))) {
    const std::string uuid = fact->value.AsText().value_or("");
    for (const Entity& gpu : evidence.Entities(EntityKind::kGpu)) {
      if (!uuid.empty() && gpu.id.find(uuid) != std::string::npos) return gpu.id;
    }
  }
  const std::vector<Entity> gpus = evidence.Entities(EntityKind::kGpu);
  return gpus.size() == 1 ? gpus.front().id : "";
}

}  // namespace

Analysis Analyse(const Evidence& evidence) {
  Analysis analysis;
  for (const Entity& entity : evidence.Entities(EntityKind::kProcess)) AddPid(analysis.processes, entity.pid());
  for (const StepMark& mark : evidence.steps()) AddPid(analysis.processes, mark.pid);
  for (const Span& span : evidence.spans()) AddPid(analysis.processes, span.pid);
  const std::map<int64_t, uint64_t> steps = CountSteps(evidence);
  analysis.main_pid = MainProcess(evidence, analysis.processes, steps);
  analysis.wall_s = evidence.Double("job.wall.seconds").value_or(0);
  for (const Entity& entity : evidence.EntitiesWith("job.cpu.seconds")) {
    const Series& series = evidence.Samples("job.cpu.seconds", entity);
    analysis.cpu_s = std::max(analysis.cpu_s, series.back().value);
  }
  analysis.cpu_s = std::max(analysis.cpu_s, evidence.Double("job.cpu_total.seconds").value_or(0));
  for (const auto& [pid, count] : steps) analysis.steps_total += count;
  CountWindows(evidence, analysis);
  analysis.steady = FindSteadyState(evidence, analysis.main_pid);
  analysis.window = ViewWindows(evidence, analysis.main_pid);
  analysis.sync = ViewSync(evidence, analysis.main_pid);
  analysis.host = ViewHost(evidence, analysis.main_pid);
  analysis.gpu = GpuOf(evidence, analysis.main_pid);
  analysis.breakdown = BreakDown(analysis);
  FillMetrics(evidence, analysis);
  return analysis;
}

namespace {

template <typename Fold>
std::optional<double> FoldOf(const Series& series, double from_s, double to_s, const Fold& fold) {
  std::vector<double> values;
  for (const Point& point : series) {
    if (point.time_s >= from_s && point.time_s <= to_s) values.push_back(point.value);
  }
  if (values.empty()) return std::nullopt;
  return fold(values);
}

}  // namespace

std::optional<double> MeanOf(const Series& series, double from_s, double to_s) {
  return FoldOf(series, from_s, to_s, [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  });
}

std::optional<double> IncreaseOf(const Series& series, double from_s, double to_s) {
  return FoldOf(series, from_s, to_s, [](const std::vector<double>& values) { return values.back() - values.front(); });
}

std::optional<double> MaxOf(const Series& series, double from_s, double to_s) {
  return FoldOf(series, from_s, to_s,
                [](const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); });
}

}  // namespace gpuwhy
