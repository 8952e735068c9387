// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_RULE_H_
#define GPUWHY_ENGINE_RULE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/analysis.h"
#include "engine/ladder.h"
#include "model/evidence.h"
#include "model/report.h"

namespace gpuwhy {

// What a rule may look at.
struct RuleContext {
  const Evidence& evidence;
  const Analysis& analysis;
  const Ladder& ladder;
};

struct RuleOutcome {
  enum class Kind { kFired, kClear, kCannotTell };
  Kind kind = Kind::kClear;
  std::vector<Finding> findings;
  std::vector<std::string> missing;  // names of facts or metrics without which the rule cannot tell

  static RuleOutcome Clear() { return {}; }
  static RuleOutcome CannotTell(std::vector<std::string> missing) {
    return {Kind::kCannotTell, {}, std::move(missing)};
  }
  static RuleOutcome Fired(Finding finding) { return {Kind::kFired, {std::move(finding)}, {}}; }
};

// What stands in the way of GPU use, in the order in which a user has to remove it: a build with CUDA helps nobody
// whose machine has no GPU. kMemory ends a job that used the GPU, kSpeed explains lost time, kNote nothing decisive,
// kVerdict is the calm answer.
enum class Stage : uint8_t {
  kHardware,
  kDriver,
  kVisibility,
  kBuild,
  kLibraries,
  kCode,
  kMemory,
  kSpeed,
  kNote,
  kVerdict
};

// A cause, as data. One source file, one constant, named after the file.
struct Rule {
  std::string_view id;
  std::string_view name;
  std::string_view since;
  Stage stage;
  std::span<const std::string_view> needs;  // facts and metrics read, for the reference pages
  RuleOutcome (*check)(const RuleContext& context);
};

// All rules sorted by file name (generated from the folder).
std::span<const Rule* const> AllRules();

// A finding of `rule` with severity and confidence; the rule adds evidence and parameters.
Finding MakeFinding(const Rule& rule, Severity severity, double confidence);

// Severity by share of lost time: 0.05 info, 0.10 warning, 0.30 error (contract of the report).
Severity SeverityOfShare(double share);
inline constexpr double kShareInfo = 0.05, kShareWarning = 0.10, kShareError = 0.30;

// Confidence levels of the contract.
inline constexpr double kStated = 0.95, kTwoWitnesses = 0.8, kOneWitness = 0.6, kWeak = 0.5;

// Evidence items from a fact, from a number of the rule's own, and from a metric of the analysis (nothing if unknown).
EvidenceItem Item(const Fact& fact);
EvidenceItem Item(std::string key, double value, Source source);
std::optional<EvidenceItem> MetricItem(const Analysis& analysis, const std::string& name, Source source);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_RULE_H_
