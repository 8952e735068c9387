// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_python_host_bound;

namespace {

constexpr std::string_view kNeeds[] = {"host.own_work.ratio", "host.looks.other.ratio"};

constexpr size_t kOther = 0, kIdle = 7;  // wire host_category
constexpr uint64_t kFewestLooks = 10;    // half a second of looks

// TensorFlow's executor waits for tf.data inside its own threads: what looks like work of the host may be input.
double HiddenInput(const RuleContext& context) {
  const Fact* wait = MainFact(context, "framework.tensorflow.input.get_next_seconds");
  const Fact* window = MainFact(context, "framework.tensorflow.input.window_seconds");
  if (wait == nullptr || window == nullptr || window->value.AsDouble().value_or(0) <= 0) return 0;
  return std::min(1.0, wait->value.AsDouble().value_or(0) / *window->value.AsDouble());
}

// The place in the job's code that the looks met most, of what is neither input nor dispatching.
void AddPlace(const Analysis& analysis, Finding& finding) {
  finding.Param("seen", "");
  if (!analysis.host || analysis.host->looks < kFewestLooks) return;
  const HostView& host = *analysis.host;
  const size_t category = host.by_category[kOther] >= host.by_category[kIdle] ? kOther : kIdle;
  const auto& [frame, count] = host.frame[category];
  if (frame.empty()) return;
  finding.Param("place", frame).Param("seen", "@host.seen");
  EvidenceItem item =
      Item("host.frame.ratio", static_cast<double>(count) / static_cast<double>(host.looks), Source::kFramework);
  item.where = frame;
  AddItem(finding, item);
}

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.breakdown || !analysis.window || analysis.window->kernels == 0)
    return RuleOutcome::CannotTell({"host.own_work.ratio"});
  const bool tensorflow = MainFact(context, "framework.tensorflow.version") != nullptr && !analysis.steady;
  if (tensorflow && MainFact(context, "framework.tensorflow.input.window_seconds") == nullptr &&
      analysis.breakdown->host_work >= kShareInfo)
    return RuleOutcome::CannotTell({"framework.tensorflow.input.get_next_seconds"});
  const double share = analysis.breakdown->host_work - HiddenInput(context);
  if (share < kShareInfo) return RuleOutcome::Clear();
  const bool seen = analysis.host && analysis.host->looks >= kFewestLooks &&
                    analysis.host->share(kOther) + analysis.host->share(kIdle) >= share / 2;
  Finding finding = TimeFinding(kRule_python_host_bound, share, seen ? kTwoWitnesses : kOneWitness);
  AddPlace(analysis, finding);
  for (const char* metric : {"host.own_work.ratio", "run.gpu_busy.ratio"})
    AddItem(finding, MetricItem(analysis, metric, Source::kCuda));
  for (const char* metric : {"host.looks.other.ratio", "host.looks.idle.ratio"})
    AddItem(finding, MetricItem(analysis, metric, Source::kFramework));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_python_host_bound{.id = "GW607",
                                                    .name = "python-host-bound",
                                                    .since = "0.2",
                                                    .stage = Stage::kSpeed,
                                                    .needs = kNeeds,
                                                    .check = &Check};

}  // namespace gpuwhy::rules
