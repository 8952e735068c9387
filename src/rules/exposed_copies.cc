// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_exposed_copies;

namespace {

constexpr std::string_view kNeeds[] = {"window.copy.pinned.bytes", "window.seconds"};

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.window || analysis.window->seconds <= 0 || !analysis.breakdown)
    return RuleOutcome::CannotTell({"window.copy.pinned.bytes"});
  const WindowView& window = *analysis.window;
  const double exposed = window.in_wait.copy + window.in_save.copy + window.in_other.copy + window.rest.copy;
  if (exposed <= 0) return RuleOutcome::Clear();
  // Pageable memory has a cause of its own, with another remedy.
  const double pageable = std::min(1.0, window.pageable_copy_s / exposed);
  const double share = analysis.breakdown->copy * (1 - pageable);
  if (share < kShareInfo) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_exposed_copies, share, kStated);
  finding.Param("count", std::to_string(window.copies - window.pageable_copies));
  finding.Param("volume", Format("{:.1f} MiB", static_cast<double>(window.pinned_bytes) / window.seconds / (1 << 20)));
  for (const char* metric : {"window.copy.pinned.bytes", "window.copy.pageable.bytes", "run.gpu_busy.ratio"})
    AddItem(finding, MetricItem(analysis, metric, Source::kCuda));
  AddItem(finding, LoaderFact(context, "pin_memory"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_exposed_copies{
    .id = "GW505", .name = "exposed-copies", .since = "0.2", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
