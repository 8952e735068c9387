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
  return {fact.name, fact.value, std::string(UnitOf(fact.name)), fact.source, fact.where, fact.quote};
}

EvidenceItem Item(std::string key, double value, Source source) {
  EvidenceItem item;
  item.unit = UnitOf(key);
  item.key = std::move(key);
  // Not Value::Of: GCC 12 under sanitizers takes the variant's move for a read of something uninitialised.
  item.value.state = State::kValue;
  item.value.scalar = value;
  item.source = source;
  return item;
}

std::optional<EvidenceItem> MetricItem(const Analysis& analysis, const std::string& name, Source source) {
  const auto place = analysis.metrics.find(name);
  if (place == analysis.metrics.end() || !place->second.value) return std::nullopt;
  EvidenceItem item = Item(name, *place->second.value, source);
  item.unit = place->second.unit;
  return item;
}

}  // namespace gpuwhy
