// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/detail.h"

#include <map>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "model/metric.h"
#include "report/text.h"

namespace gpuwhy::report {
namespace {

std::string Labelled(const std::string& label, const std::string& value, Language language) {
  return label + (language == Language::kChinese ? "：" : ": ") + value;
}

void WriteFacts(const Report& report, Writer& writer) {
  if (report.subject.empty()) return;
  writer.Heading(writer.Text("section.facts"));
  std::map<Entity, std::vector<const Fact*>> by_entity;
  for (const Fact& fact : report.subject) by_entity[fact.entity].push_back(&fact);
  const Language language = writer.options().language;
  for (const auto& [entity, facts] : by_entity) {
    const std::string text = entity.Text();
    const std::string kind = text.substr(0, text.find(':'));
    writer.Paragraph(2, writer.Text("entity." + kind, {{"id", entity.id}}), Paint::kBold);
    for (const Fact* fact : facts) {
      writer.Item("    ", Labelled(KeyLabel(fact->name, language), ShowValue(fact->value, UnitOf(fact->name), language),
                                   language));
    }
  }
}

void WriteMetrics(const Report& report, Writer& writer) {
  if (report.metrics.empty()) return;
  writer.Heading(writer.Text("section.metrics"));
  const Language language = writer.options().language;
  for (const auto& [name, metric] : report.metrics) {
    const std::string value =
        metric.value ? ShowQuantity(*metric.value, metric.unit) : MissingText(metric.state, "", language);
    writer.Item("  ", Labelled(KeyLabel(name, language), value, language));
  }
}

void WriteRules(const Report& report, Writer& writer) {
  if (report.rules.empty()) return;
  writer.Heading(writer.Text("section.rules"));
  for (const RuleAnswer& rule : report.rules) {
    const std::string answer = writer.Text("rule." + rule.answer, {{"missing", Join(rule.missing, ", ")}});
    writer.Item("  ", Labelled(rule.id + " " + rule.name, answer, writer.options().language));
  }
}

}  // namespace

void WriteDetail(const Report& report, Writer& writer) {
  WriteFacts(report, writer);
  WriteMetrics(report, writer);
  WriteRules(report, writer);
}

}  // namespace gpuwhy::report
