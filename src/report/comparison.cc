// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include "base/format.h"
#include "report/text.h"

namespace gpuwhy::report {
namespace {

// As many decimals as the interval leaves meaning to: "4.14", "12.3", and "1.004" where it is narrow.
int DecimalsOf(const SpeedRatio& ratio) {
  if (ratio.value >= 100) return 0;
  if (ratio.value >= 10) return 1;
  const bool narrow = ratio.low && ratio.high && *ratio.high - *ratio.low < 0.02;
  return narrow ? 3 : 2;
}

}  // namespace

std::string ComparisonSentence(const Comparison& comparison, Language language) {
  std::map<std::string, std::string> params;
  if (comparison.ratio) {
    const SpeedRatio& ratio = *comparison.ratio;
    const int decimals = DecimalsOf(ratio);
    params["ratio"] = Format("{:.{}f}", ratio.value, decimals);
    params["low"] = Format("{:.{}f}", ratio.low.value_or(0), decimals);
    params["high"] = Format("{:.{}f}", ratio.high.value_or(0), decimals);
    params["a"] = std::to_string(comparison.before.size());
    params["b"] = std::to_string(comparison.after.size());
    params["scope"] = ratio.between_runs ? "@compare.scope.between" : "@compare.scope.within";
  }
  if (comparison.unknown_why) {
    params["why"] = LocaleText("compare.why." + comparison.unknown_why->id, language, comparison.unknown_why->params);
    return LocaleText(comparison.ratio ? "compare.verdict.rough" : "compare.verdict.unknown", language, params);
  }
  if (comparison.result != CompareResult::kNoDifference)
    return LocaleText(Format("compare.verdict.{}", CompareResultName(comparison.result)), language, params);
  const SpeedRatio& ratio = *comparison.ratio;
  const bool holds_one = *ratio.low <= 1 && *ratio.high >= 1;
  const char* kind = ratio.between_runs ? "same_runs" : holds_one ? "same" : "below_drift";
  return LocaleText(std::string("compare.verdict.") + kind, language, params);
}

}  // namespace gpuwhy::report
