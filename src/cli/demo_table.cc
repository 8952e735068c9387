// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_table.h"

#include "base/format.h"
#include "report/table.h"
#include "report/text.h"
#include "report/writer.h"

namespace gpuwhy::cli {
namespace {

std::optional<double> ValueOf(const Report& report, const std::string& metric) {
  const auto found = report.metrics.find(metric);
  return found == report.metrics.end() ? std::nullopt : found->second.value;
}

}  // namespace

std::string DemoTable(const Report& before, const Report& after, const report::Options& options) {
  report::Writer writer(options);
  const auto cell = [&](const Report& report, const char* metric, const char* unit) {
    const std::optional<double> value = ValueOf(report, metric);
    return value ? report::ShowQuantity(*value, unit) : writer.Text("state.unknown");
  };
  std::vector<std::vector<std::string>> rows = {{"", writer.Text("demo.before"), writer.Text("demo.after")}};
  const auto add = [&](const char* label, const char* metric, const char* unit) {
    rows.push_back({writer.Text(label), cell(before, metric, unit), cell(after, metric, unit)});
  };
  add("demo.rate", "run.items_per_second", "");
  add("demo.wait", "input.wait.ratio", "ratio");
  add("demo.duty", "run.duty_cycle.ratio", "ratio");
  rows.push_back({writer.Text("demo.cause"), report::CauseTitle(before.verdict.cause, options.language),
                  report::CauseTitle(after.verdict.cause, options.language)});
  writer.Heading(writer.Text("demo.table"));
  report::WriteTable(writer, 2, rows);
  const std::optional<double> slow = ValueOf(before, "run.items_per_second"),
                              fast = ValueOf(after, "run.items_per_second");
  if (slow && fast && *slow > 0)
    writer.Paragraph(2, writer.Text("demo.gain", {{"factor", Format("{:.1f}", *fast / *slow)}}), report::Paint::kBold);
  return writer.Take();
}

}  // namespace gpuwhy::cli
