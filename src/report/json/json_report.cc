// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "report/json/subject.h"
#include "report/reporter.h"
#include "report/text.h"

// Schema gpuwhy.report/1, published as docs/schema/gpuwhy.report-1.schema.json.
namespace gpuwhy::report {
namespace {

Json TextOrNull(std::string text) { return text.empty() ? Json() : Json(std::move(text)); }

Json VerdictJson(const Report& report, Language language) {
  Json out;
  out.Set("gpu_used", GpuUsedName(report.verdict.gpu_used));
  out.Set("cause", report.verdict.cause);
  out.Set("confidence", Rounded(report.verdict.confidence));
  out.Set("summary", VerdictSentence(report, language));
  out.Set("next", TextOrNull(NextText(report.verdict.next, language)));
  return out;
}

Json WitnessJson(const WitnessStatement& statement, Language language) {
  Json out;
  out.Set("name", SourceName(statement.rung));
  out.Set("gpu_used", GpuUsedName(statement.gpu_used));
  out.Set("says", WitnessSentence(statement, language));
  out.Set("state", statement.state);
  out.Set("why", WitnessWhy(statement, language));
  return out;
}

// A missing value is null, and the label says why: it is never a zero and never left out.
Json EvidenceJson(const EvidenceItem& item, Language language) {
  std::string what = KeyLabel(item.key, language);
  if (!item.value.known()) {
    what += (language == Language::kChinese ? "：" : ": ") + MissingText(item.value.state, item.value.why, language);
  }
  Json out;
  out.Set("what", std::move(what));
  out.Set("value", ValueJson(item.value));
  out.Set("unit", item.unit);
  out.Set("source", SourceName(item.source));
  out.Set("where", item.where);
  if (!item.quote.empty()) out.Set("quote", item.quote);
  return out;
}

Json SpeedupJson(const std::optional<Speedup>& speedup) {
  if (!speedup) return {};
  Json out;
  out.Set("low", Rounded(speedup->low));
  out.Set("high", Rounded(speedup->high));
  out.Set("how", speedup->measured ? "measured" : "bound");
  return out;
}

Json FixesJson(const Finding& finding, Language language) {
  Json::Array out;
  for (Fix& fix : FindingFixes(finding, language)) {
    Json item;
    item.Set("framework", std::move(fix.framework));
    item.Set("do", std::move(fix.text));
    item.Set("code", std::move(fix.code));
    out.push_back(std::move(item));
  }
  return out;
}

Json FindingJson(const Finding& finding, Language language) {
  Json::Array evidence;
  for (const EvidenceItem& item : finding.evidence) evidence.push_back(EvidenceJson(item, language));
  Json out;
  out.Set("id", finding.id);
  out.Set("cause", finding.cause);
  out.Set("severity", SeverityName(finding.severity));
  out.Set("confidence", Rounded(finding.confidence));
  out.Set("share_of_time", finding.share_of_time ? Rounded(*finding.share_of_time) : Json());
  out.Set("speedup", SpeedupJson(finding.speedup));
  out.Set("evidence", std::move(evidence));
  out.Set("fixes", FixesJson(finding, language));
  out.Set("next", FindingNext(finding, language));
  return out;
}

Json GapsJson(const Report& report, Language language) {
  Json::Array out;
  for (const Gap& gap : report.gaps) {
    Json item;
    item.Set("what", LocaleText(gap.what, language, gap.params));
    item.Set("why", LocaleText(gap.why, language, gap.params));
    item.Set("fix", LocaleText(gap.fix, language, gap.params));
    out.push_back(std::move(item));
  }
  return out;
}

Json BreakdownJson(const std::optional<Breakdown>& parts) {
  if (!parts) return {};
  Json out;
  out.Set("input_wait", Rounded(parts->input_wait));
  out.Set("copy", Rounded(parts->copy));
  out.Set("gpu_compute", Rounded(parts->gpu_compute));
  out.Set("communication", Rounded(parts->communication));
  out.Set("launch", Rounded(parts->launch));
  out.Set("sync", Rounded(parts->sync));
  out.Set("checkpoint", Rounded(parts->checkpoint));
  out.Set("other", Rounded(parts->other));
  return out;
}

Json MetricsJson(const Report& report) {
  Json out(Json::Object{});
  for (const auto& [name, metric] : report.metrics) {
    const Json value = metric.value ? Rounded(*metric.value) : Json();
    const bool lost = value.is_null() && metric.state == State::kValue;  // infinite or no number at all
    Json item;
    item.Set("value", value);
    item.Set("unit", metric.unit);
    item.Set("state", StateName(lost ? State::kUnknown : metric.state));
    item.Set("source", metric.source);
    out.Set(name, std::move(item));
  }
  return out;
}

Json RulesJson(const Report& report) {
  Json::Array out;
  for (const RuleAnswer& rule : report.rules) {
    Json::Array missing(rule.missing.begin(), rule.missing.end());
    Json item;
    item.Set("id", rule.id);
    item.Set("name", rule.name);
    item.Set("answer", rule.answer);
    item.Set("missing", std::move(missing));
    out.push_back(std::move(item));
  }
  return out;
}

std::string Render(const Report& report, const Options& options) {
  Json::Array witnesses;
  for (const WitnessStatement& statement : report.witnesses)
    witnesses.push_back(WitnessJson(statement, options.language));
  Json::Array findings;
  for (const Finding& finding : report.findings) findings.push_back(FindingJson(finding, options.language));
  Json out;
  out.Set("schema", "gpuwhy.report/1");
  out.Set("verdict", VerdictJson(report, options.language));
  out.Set("witnesses", std::move(witnesses));
  out.Set("findings", std::move(findings));
  out.Set("gaps", GapsJson(report, options.language));
  out.Set("breakdown", BreakdownJson(report.breakdown));
  out.Set("subject", SubjectJson(report.subject));
  out.Set("metrics", MetricsJson(report));
  if (options.verbose) out.Set("rules", RulesJson(report));
  return out.Dump(2) + "\n";
}

}  // namespace

extern const Reporter kReporter_json;
constinit const Reporter kReporter_json{.name = "json", .extension = ".json", .render = &Render};

}  // namespace gpuwhy::report
