// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/rule.h"

#include "model/metric.h"

namespace gpuwhy {

Finding MakeFinding(const Rule& rule, Severity severity, double confidence) {
  Finding finding;
  finding.id = rule.id;
  finding.cause = rule.name;
  finding.severity = severity;
  finding.confidence = confidence;
  return finding;
}

Severity SeverityOfShare(double share) {
  if (share >= kShareError) return Severity::kError;
  return share >= kShareWarning ? Severity::kWarning : Severity::kInfo;
}

EvidenceItem Item(const Fact& fact) {
  return {fact.name, fact.value, std::string(UnitOf(fact.name)), fact.source, fact.where};
}

EvidenceItem Item(std::string key, double value, Source source) {
  const std::string unit(UnitOf(key));
  return {std::move(key), Value::Of(value), unit, source, ""};
}

std::optional<EvidenceItem> MetricItem(const Analysis& analysis, const std::string& name, Source source) {
  const auto place = analysis.metrics.find(name);
  if (place == analysis.metrics.end() || !place->second.value) return std::nullopt;
  return EvidenceItem{name, Value::Of(*place->second.value), place->second.unit, source, ""};
}

}  // namespace gpuwhy
