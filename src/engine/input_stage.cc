// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/input_stage.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "engine/lookup.h"

namespace gpuwhy {
namespace {

constexpr size_t kInput = 1;          // wire host_category
constexpr uint64_t kFewestLooks = 5;  // a quarter of a second of waiting
constexpr double kFewestSeconds = 5;
constexpr double kBusyWorker = 0.80;  // of a core each: what they do needs the CPU
constexpr double kIdleWorker = 0.30;  // they wait themselves: storage, network, a lock, a full queue

// tf.data.Dataset.from_generator runs one Python function under the interpreter's lock; its iterator is "Generator".
bool FromGenerator(const RuleContext& context, Finding& finding) {
  const Fact* slowest = MainFact(context, "framework.tensorflow.input.slowest_iterator");
  if (slowest == nullptr || !Contains(slowest->value.AsText().value_or(""), "Generator")) return false;
  finding.Param("stage", "@input.stage.generator");
  return true;
}

bool TooManyWorkers(const RuleContext& context, Finding& finding) {
  const Fact* workers = LoaderFact(context, "workers");
  const std::optional<double> cores = CoresAllowed(context.evidence);
  const std::optional<int64_t> count = workers != nullptr ? workers->value.AsInt() : std::nullopt;
  if (!count || !cores || static_cast<double>(*count) <= *cores) return false;
  finding.Param("stage", "@input.stage.too_many").Param("cores", Format("{:.0f}", *cores));
  return true;
}

// What the workers did, by their CPU time.
bool FromWorkers(const RuleContext& context, Finding& finding) {
  const std::optional<LoaderProcesses> loaders = FindLoaderProcesses(context);
  if (!loaders || loaders->count == 0) return false;
  const double each = loaders->cores / static_cast<double>(loaders->count);
  finding.Param("stage", each >= kBusyWorker   ? "@input.stage.workers_busy"
                         : each <= kIdleWorker ? "@input.stage.workers_idle"
                                               : "@input.stage.workers");
  finding.Param("each", ShowPercent(each)).Param("count", std::to_string(loaders->count));
  AddItem(finding, Item("input.workers.cores", loaders->cores, Source::kOs));
  return true;
}

// Without workers the loader's code runs in the training thread, where the agent's looks meet it.
bool FromLooks(const RuleContext& context, Finding& finding) {
  if (!context.analysis.host || context.analysis.host->by_category[kInput] < kFewestLooks) return false;
  const auto& [frame, count] = context.analysis.host->frame[kInput];
  if (frame.empty()) return false;
  if (Contains(frame, " __next__")) return false;  // the loader's entry: says nothing of what it does
  const bool waits = Contains(frame, "selectors.py") || Contains(frame, "threading.py") || Contains(frame, "queue") ||
                     Contains(frame, "connection.py");
  if (waits) return false;  // for workers, whose own stacks are not seen
  const double share = static_cast<double>(count) / static_cast<double>(context.analysis.host->by_category[kInput]);
  finding.Param("stage", Contains(frame, "collate.py") ? "@input.stage.collate" : "@input.stage.place");
  finding.Param("place", frame).Param("place_share", ShowPercent(share));
  EvidenceItem item = Item("host.frame.ratio", share, Source::kFramework);
  item.where = frame;
  AddItem(finding, item);
  return true;
}

}  // namespace

std::optional<LoaderProcesses> FindLoaderProcesses(const RuleContext& context) {
  if (!context.analysis.steady || context.analysis.steady->seconds() < kFewestSeconds) return std::nullopt;
  const SteadyState& steady = *context.analysis.steady;
  LoaderProcesses loaders;
  for (const Entity& entity : context.evidence.EntitiesWith("process.cpu.seconds")) {
    const Fact* parent = context.evidence.Find("process.parent", entity);
    if (parent == nullptr || parent->value.AsInt() != context.analysis.main_pid) continue;
    const Series& series = context.evidence.Samples("process.cpu.seconds", entity);
    const auto inside = [&](const Point& point) {
      return point.time_s >= steady.start_s && point.time_s <= steady.end_s;
    };
    const auto first = std::find_if(series.begin(), series.end(), inside);
    const auto last = std::find_if(series.rbegin(), series.rend(), inside);
    if (first == series.end() || last->time_s - first->time_s < kFewestSeconds) continue;
    ++loaders.count;
    loaders.cores += std::max(0.0, last->value - first->value) / (last->time_s - first->time_s);
  }
  return loaders;
}

void DescribeInputStage(const RuleContext& context, Finding& finding) {
  finding.Param("stage", "@input.stage.unknown");
  if (FromGenerator(context, finding) || TooManyWorkers(context, finding)) return;
  if (!FromWorkers(context, finding)) FromLooks(context, finding);
}

}  // namespace gpuwhy
