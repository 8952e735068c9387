// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_pageable_copies;

namespace {

constexpr std::string_view kNeeds[] = {"window.copy.pageable.ratio", "window.copy.pageable.bytes"};

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.window || analysis.window->seconds <= 0) return RuleOutcome::CannotTell({"window.copy.pageable.ratio"});
  const WindowView& window = *analysis.window;
  const double exposed = window.in_wait.copy + window.in_save.copy + window.in_other.copy + window.rest.copy;
  if (window.pageable_copies == 0 || exposed <= 0 || !analysis.breakdown) return RuleOutcome::Clear();
  const double share = analysis.breakdown->copy * std::min(1.0, window.pageable_copy_s / exposed);
  if (share < kShareInfo) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_pageable_copies, share, kStated);
  const double rate =
      window.pageable_copy_s > 0 ? static_cast<double>(window.pageable_bytes) / window.pageable_copy_s * 1e-9 : 0;
  finding.Param("rate", Format("{:.1f} GB/s", rate)).Param("count", std::to_string(window.pageable_copies));
  finding.Param("largest", Format("{:.1f} MiB", window.largest_pageable_bytes / (1 << 20)));
  for (const char* metric : {"window.copy.pageable.ratio", "window.copy.pageable.bytes", "window.copy.pinned.bytes"})
    AddItem(finding, MetricItem(analysis, metric, Source::kCuda));
  AddItem(finding, LoaderFact(context, "pin_memory"));
  AddItem(finding, MainFact(context, "framework.torch.inputs.pinned"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_pageable_copies{
    .id = "GW504", .name = "pageable-copies", .since = "0.1", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
