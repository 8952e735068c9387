// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "report/detail.h"
#include "report/layout.h"
#include "report/text.h"
#include "report/writer.h"

namespace gpuwhy::report {
namespace {

Paint PaintOf(GpuUsed used) {
  constexpr std::array<Paint, 4> kPaints = {Paint::kYellow, Paint::kRed, Paint::kYellow, Paint::kGreen};
  return kPaints[static_cast<size_t>(used)];
}

Paint PaintOf(Severity severity) {
  constexpr std::array<Paint, 3> kPaints = {Paint::kBold, Paint::kYellow, Paint::kRed};
  return kPaints[static_cast<size_t>(severity)];
}

void WriteVerdict(const Report& report, Writer& writer) {
  const Verdict& verdict = report.verdict;
  const std::string used(GpuUsedName(verdict.gpu_used));
  const Language language = writer.options().language;
  const bool chinese = language == Language::kChinese;
  const std::string banner = writer.Text("verdict.banner." + used) + (chinese ? "：" : ": ");
  writer.Item(banner, writer.Text("verdict.headline." + used), PaintOf(verdict.gpu_used), Paint::kBold);
  writer.Paragraph(2, VerdictSentence(report, language));
  std::string title = CauseTitle(verdict.cause, language);
  for (const Finding& finding : report.findings) {
    if (finding.cause == verdict.cause) title = FindingTitle(finding, language);
  }
  writer.Paragraph(2, writer.Text("verdict.cause", {{"title", title}, {"cause", verdict.cause}}));
  const std::string number = Format("{:.2f}", verdict.confidence);
  writer.Paragraph(2, writer.Text("verdict.confidence",
                                  {{"words", ConfidenceText(verdict.confidence, language)}, {"number", number}}));
}

void WriteWitnesses(const Report& report, Writer& writer) {
  if (report.witnesses.empty()) return;
  writer.Heading(writer.Text("section.witnesses"));
  int names = 0;
  int answers = 0;
  std::vector<std::pair<std::string, std::string>> rows;
  for (const WitnessStatement& statement : report.witnesses) {
    const bool speaks = statement.state == "ok";
    const std::string name = writer.Text(Format("witness.name.{}", SourceName(statement.rung)));
    const std::string answer =
        writer.Text(speaks ? Format("used.{}", GpuUsedName(statement.gpu_used)) : "state." + statement.state);
    names = std::max(names, DisplayWidth(name));
    answers = std::max(answers, DisplayWidth(answer));
    rows.emplace_back(name, answer);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const WitnessStatement& statement = report.witnesses[i];
    std::string text = WitnessSentence(statement, writer.options().language);
    const std::string why = WitnessWhy(statement, writer.options().language);
    if (!why.empty() && why != text)
      text += writer.options().language == Language::kChinese ? "（" + why + "）" : " (" + why + ")";
    const bool decides = statement.state == "ok" && statement.gpu_used != GpuUsed::kUnknown;
    const std::string lead = Format("  {}  {}  ", Pad(rows[i].first, names), Pad(rows[i].second, answers));
    writer.Item(lead, text, decides ? PaintOf(statement.gpu_used) : Paint::kDim);
  }
}

void WriteNumbers(const Finding& finding, Writer& writer) {
  std::vector<std::string> parts;
  if (finding.share_of_time) {
    // A text has no steady state: its share is of the time that it speaks of.
    const bool text = std::any_of(finding.evidence.begin(), finding.evidence.end(),
                                  [](const EvidenceItem& item) { return !item.quote.empty(); });
    parts.push_back(writer.Text(text ? "finding.share_text" : "finding.share",
                                {{"share", ShowQuantity(*finding.share_of_time, "ratio")}}));
  }
  if (finding.speedup) {
    const std::string key = finding.speedup->measured ? "finding.speedup.measured" : "finding.speedup.bound";
    parts.push_back(writer.Text(
        key, {{"low", Format("{:.2f}", finding.speedup->low)}, {"high", Format("{:.2f}", finding.speedup->high)}}));
  }
  const std::string words = ConfidenceText(finding.confidence, writer.options().language);
  parts.push_back(
      writer.Text("finding.confidence", {{"number", Format("{:.2f}", finding.confidence)}, {"words", words}}));
  writer.Paragraph(5, Join(parts, writer.options().language == Language::kChinese ? "；" : "; "), Paint::kDim);
}

void WriteEvidence(const Finding& finding, Writer& writer) {
  if (finding.evidence.empty()) return;
  const bool chinese = writer.options().language == Language::kChinese;
  writer.Paragraph(5, writer.Text("finding.evidence") + (chinese ? "：" : ":"));
  for (const EvidenceItem& item : finding.evidence) {
    const std::string key = item.where.empty() ? "evidence.source" : "evidence.source_where";
    const std::string witness = writer.Text(Format("witness.name.{}", SourceName(item.source)));
    const std::string source = writer.Text(key, {{"source", witness}, {"where", item.where}});
    const std::string label = KeyLabel(item.key, writer.options().language);
    const std::string value = ShowValue(item.value, item.unit, writer.options().language);
    if (!item.quote.empty()) {
      const std::string number = item.where.substr(std::min(item.where.find(' ') + 1, item.where.size()));
      const std::string place = writer.Text("evidence.line", {{"line", number}});
      writer.Item("       - ", Format("{}{}{}", place, chinese ? "：" : ": ", item.quote));
      continue;
    }
    writer.Item("       - ",
                chinese ? Format("{}：{}（{}）", label, value, source) : Format("{}: {} ({})", label, value, source));
  }
}

void WriteFixes(const Finding& finding, Writer& writer) {
  const Language language = writer.options().language;
  const bool chinese = language == Language::kChinese;
  const std::vector<Fix> fixes = FindingFixes(finding, language);
  if (!fixes.empty()) writer.Paragraph(5, writer.Text("finding.fix") + (chinese ? "：" : ":"));
  for (const Fix& fix : fixes) {
    const std::string name =
        fix.framework == "any" ? "" : writer.Text("framework." + fix.framework) + (chinese ? "：" : ": ");
    writer.Item("       - ", name + fix.text);
    writer.Code(11, fix.code);
  }
  const std::string next = FindingNext(finding, language);
  if (!next.empty()) writer.Paragraph(5, writer.Text("finding.next", {{"next", next}}));
}

void WriteFindings(const Report& report, Writer& writer) {
  if (report.findings.empty()) return;
  const bool timed = std::any_of(report.findings.begin(), report.findings.end(),
                                 [](const Finding& finding) { return finding.share_of_time.has_value(); });
  writer.Heading(writer.Text(timed ? "section.findings" : "section.causes"));
  int number = 0;
  for (const Finding& finding : report.findings) {
    if (++number > 1) writer.Blank();
    const std::string severity = writer.Text(Format("severity.{}", SeverityName(finding.severity)));
    const std::string title = FindingTitle(finding, writer.options().language);
    const std::string lead = Format("{:>3}. [{}] ", number, severity);
    writer.Item(lead, Format("{} ({} {})", title, finding.id, finding.cause), PaintOf(finding.severity), Paint::kBold);
    const std::string summary = FindingSummary(finding, writer.options().language);
    // The verdict has said this sentence already.
    if (summary != VerdictSentence(report, writer.options().language)) writer.Paragraph(5, summary);
    WriteNumbers(finding, writer);
    WriteEvidence(finding, writer);
    WriteFixes(finding, writer);
  }
}

void WriteBreakdown(const Report& report, Writer& writer) {
  if (!report.breakdown) return;
  writer.Heading(writer.Text("section.breakdown"));
  const Breakdown& parts = *report.breakdown;
  std::vector<std::pair<std::string, double>> rows = {{"gpu_compute", parts.gpu_compute},
                                                      {"communication", parts.communication},
                                                      {"copy", parts.copy},
                                                      {"input_wait", parts.input_wait},
                                                      {"sync", parts.sync},
                                                      {"launch", parts.launch},
                                                      {"checkpoint", parts.checkpoint},
                                                      {"other", parts.other}};
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& left, const auto& right) { return left.second > right.second; });
  int names = 0;
  for (auto& row : rows) {
    row.first = writer.Text("bucket." + row.first);
    names = std::max(names, DisplayWidth(row.first));
  }
  const int cells = std::clamp(writer.options().width - names - 14, 8, 40);
  for (const auto& [name, share] : rows) {
    writer.Item(Format("  {}  {} ", Pad(name, names), Bar(share, cells)), ShowQuantity(share, "ratio"));
  }
}

void WriteGaps(const Report& report, Writer& writer) {
  if (report.gaps.empty()) return;
  const Language language = writer.options().language;
  const bool chinese = language == Language::kChinese;
  writer.Heading(writer.Text("section.gaps"));
  for (const Gap& gap : report.gaps) {
    std::string text = LocaleText(gap.what, language, gap.params);
    if (!gap.why.empty()) text += (chinese ? "：" : ": ") + LocaleText(gap.why, language, gap.params);
    writer.Item("  - ", text);
    if (!gap.fix.empty())
      writer.Paragraph(4, writer.Text("gap.fix", {{"fix", LocaleText(gap.fix, language, gap.params)}}));
  }
}

std::string Render(const Report& report, const Options& options) {
  Writer writer(options);
  WriteVerdict(report, writer);
  WriteWitnesses(report, writer);
  WriteFindings(report, writer);
  WriteBreakdown(report, writer);
  WriteGaps(report, writer);
  if (options.verbose) WriteDetail(report, writer);
  if (!report.verdict.next.empty()) {
    writer.Heading(writer.Text("section.next"));
    writer.Code(2, NextText(report.verdict.next, writer.language()));
  }
  return writer.Take();
}

}  // namespace

extern const Reporter kReporter_terminal;
constinit const Reporter kReporter_terminal{.name = "text", .extension = ".txt", .render = &Render};

}  // namespace gpuwhy::report
