// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_text.h"

#include <array>

#include "base/format.h"
#include "cli/subject_view.h"
#include "report/detail.h"
#include "report/text.h"
#include "session/machine.h"

namespace gpuwhy::cli {

using report::Language;
using report::Paint;
using report::Writer;

void WriteShortFindings(const Report& report, Writer& writer) {
  if (report.findings.empty()) return;
  const Language language = writer.options().language;
  constexpr std::array<Paint, 3> kPaints = {Paint::kBold, Paint::kYellow, Paint::kRed};
  writer.Heading(writer.Text("doctor.findings"));
  int number = 0;
  for (const Finding& finding : report.findings) {
    const std::string severity = writer.Text(Format("severity.{}", SeverityName(finding.severity)));
    const std::string title = report::FindingTitle(finding, language);
    writer.Item(Format("{:>3}. [{}] ", ++number, severity), Format("{} ({} {})", title, finding.id, finding.cause),
                kPaints[static_cast<size_t>(finding.severity)], Paint::kBold);
    writer.Paragraph(5, report::FindingSummary(finding, language));
    for (const report::Fix& fix : report::FindingFixes(finding, language)) {
      const std::string name = fix.framework == "any" ? ""
                                                      : writer.Text("framework." + fix.framework) +
                                                            (language == Language::kChinese ? "：" : ": ");
      writer.Item("       - ", name + fix.text);
      writer.Code(11, fix.code);
    }
    const std::string next = report::FindingNext(finding, language);
    if (!next.empty()) writer.Paragraph(5, writer.Text("finding.next", {{"next", next}}));
  }
}

std::string MachineText(const Report& report, const report::Options& options) {
  Writer writer(options);
  if (SubjectView(report).Text(kKindFact) == kKindSnapshot) {
    WriteSnapshot(report, writer);
    if (options.verbose) report::WriteDetail(report, writer);
    return writer.Take();
  }
  writer.Paragraph(0, report::VerdictSentence(report, options.language), Paint::kBold);
  WriteChecklist(report, writer);
  WriteShortFindings(report, writer);
  if (options.verbose) report::WriteDetail(report, writer);
  if (!report.verdict.next.empty()) {
    writer.Heading(writer.Text("section.next"));
    writer.Code(2, report::NextText(report.verdict.next, writer.language()));
  }
  return writer.Take();
}

}  // namespace gpuwhy::cli
