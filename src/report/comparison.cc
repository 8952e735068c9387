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

using Params = std::map<std::string, std::string>;

// What is said of the speed: "times as fast" is right only for equal work.
std::string SpeedKey(const Comparison& comparison) {
  const SpeedRatio& ratio = *comparison.ratio;
  if (ratio.same_work != "yes") return "compare.speed." + ratio.unit;
  return comparison.result == CompareResult::kFaster ? "compare.speed.fast" : "compare.speed.plain";
}

Params ParamsOf(const Comparison& comparison) {
  const SpeedRatio& ratio = *comparison.ratio;
  const int decimals = DecimalsOf(ratio);
  return {{"ratio", Format("{:.{}f}", ratio.value, decimals)},
          {"low", Format("{:.{}f}", ratio.low.value_or(0), decimals)},
          {"high", Format("{:.{}f}", ratio.high.value_or(0), decimals)},
          {"a", std::to_string(comparison.before.size())},
          {"b", std::to_string(comparison.after.size())},
          {"scope", ratio.between_runs ? "@compare.scope.between" : "@compare.scope.within"},
          {"speed", "@" + SpeedKey(comparison)},
          {"doubt", ratio.same_work == "yes" ? "" : "@compare.doubt." + ratio.same_work}};
}

// Which sentence fits a comparison that has an interval.
std::string VerdictKey(const Comparison& comparison) {
  if (comparison.result != CompareResult::kNoDifference) return std::string(CompareResultName(comparison.result));
  const SpeedRatio& ratio = *comparison.ratio;
  if (ratio.between_runs) return "same_runs";
  return *ratio.low <= 1 && *ratio.high >= 1 ? "same" : "below_drift";
}

}  // namespace

std::string ComparisonSentence(const Comparison& comparison, Language language) {
  Params params = comparison.ratio ? ParamsOf(comparison) : Params{};
  if (!comparison.unknown_why) return LocaleText("compare.verdict." + VerdictKey(comparison), language, params);
  params["why"] = LocaleText("compare.why." + comparison.unknown_why->id, language, comparison.unknown_why->params);
  return LocaleText(comparison.ratio ? "compare.verdict.rough" : "compare.verdict.unknown", language, params);
}

}  // namespace gpuwhy::report
