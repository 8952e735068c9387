// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "report/table.h"
#include "report/text.h"
#include "report/writer.h"

namespace gpuwhy::report {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// What most readers want; -v shows every metric.
constexpr std::array<std::string_view, 15> kMainMetrics = {"run.items_per_second",
                                                           "input.wait.ratio",
                                                           "run.duty_cycle.ratio",
                                                           "run.gpu_busy.ratio",
                                                           "gpu.gpm.sm.ratio",
                                                           "gpu.gpm.tensor.ratio",
                                                           "gpu.gpm.dram.ratio",
                                                           "gpu.memory.used.bytes",
                                                           "gpu.power.watts",
                                                           "gpu.clock.sm.hertz",
                                                           "gpu.pcie.rx.bytes_per_second",
                                                           "window.launches_per_second",
                                                           "window.sync.ratio",
                                                           "window.copy.pageable.ratio",
                                                           "checkpoint.ratio"};
constexpr double kTooSmallToShow = 0.0005;

std::string Cell(const std::optional<double>& value, std::string_view unit, const Writer& writer) {
  return value ? ShowQuantity(*value, unit) : writer.Text("state.unknown");
}

// Shares change by points, everything else by a factor.
std::string ChangeOf(const BeforeAfter& value, std::string_view unit, const Writer& writer) {
  if (!value.before || !value.after) return "";
  if (unit == "ratio")
    return writer.Text("compare.points", {{"value", Format("{:+.1f}", (*value.after - *value.before) * 100)}});
  if (*value.before == 0 || *value.after / *value.before < 0) return "";
  return Format("× {:.3g}", *value.after / *value.before);
}

Paint PaintOf(CompareResult result) {
  constexpr std::array<Paint, 4> kPaints = {Paint::kYellow, Paint::kBold, Paint::kGreen, Paint::kRed};
  return kPaints[static_cast<size_t>(result)];
}

void WriteRuns(const std::vector<ComparedRun>& runs, const char* side, Writer& writer) {
  for (const ComparedRun& run : runs) {
    const std::string seen = !run.seconds ? "compare.run.none" : run.steps ? "compare.run.steps" : "compare.run.window";
    const std::map<std::string, std::string> params = {
        {"name", run.name},
        {"started", run.started.empty() ? writer.Text("state.unknown") : run.started.substr(0, run.started.find('.'))},
        {"steps", Format("{:.0f}", run.steps.value_or(0))},
        {"seconds", ShowQuantity(run.seconds.value_or(0), "seconds")},
        {"used", writer.Text(Format("used.{}", GpuUsedName(run.gpu_used)))},
        {"cause", CauseTitle(run.cause, writer.options().language)},
        {"seen", "@" + seen}};
    writer.Item(Format("  {}  ", side), writer.Text("compare.run", params), Paint::kBold);
  }
}

// The main ones in their order; of -v all others behind them. A zero on both sides tells nothing.
std::vector<const MetricChange*> MetricsToShow(const Comparison& comparison, bool all) {
  std::vector<const MetricChange*> main, others;
  for (const MetricChange& metric : comparison.metrics) {
    if (metric.value.before.value_or(1) == 0 && metric.value.after.value_or(1) == 0) continue;
    const bool is_main = std::find(kMainMetrics.begin(), kMainMetrics.end(), metric.name) != kMainMetrics.end();
    (is_main ? main : others).push_back(&metric);
  }
  const auto rank = [](const MetricChange* metric) {
    return std::find(kMainMetrics.begin(), kMainMetrics.end(), metric->name) - kMainMetrics.begin();
  };
  std::sort(main.begin(), main.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  if (all) main.insert(main.end(), others.begin(), others.end());
  return main;
}

void WriteReadings(const Comparison& comparison, Writer& writer) {
  Rows rows = {{"", "A", "B", writer.Text("compare.change")}};
  const BeforeAfter& unit = comparison.unit_seconds;
  if (comparison.ratio && unit.before && unit.after) {
    rows.push_back({writer.Text("compare.time." + comparison.ratio->unit), Cell(unit.before, "seconds", writer),
                    Cell(unit.after, "seconds", writer), ChangeOf(unit, "seconds", writer)});
    const BeforeAfter rate{1 / *unit.before, 1 / *unit.after};
    rows.push_back({writer.Text("compare.rate." + comparison.ratio->unit), Cell(rate.before, "", writer),
                    Cell(rate.after, "", writer), ChangeOf(rate, "", writer)});
  }
  for (const MetricChange* metric : MetricsToShow(comparison, writer.options().verbose)) {
    rows.push_back({KeyLabel(metric->name, writer.options().language), Cell(metric->value.before, metric->unit, writer),
                    Cell(metric->value.after, metric->unit, writer), ChangeOf(metric->value, metric->unit, writer)});
  }
  if (rows.size() < 2) return;
  writer.Heading(writer.Text("compare.section.readings"));
  WriteTable(writer, 2, rows);
}

std::string BucketCell(const std::optional<double>& share, const std::optional<double>& seconds, const Writer& writer) {
  if (!share) return writer.Text("state.unknown");
  const std::string percent = ShowQuantity(*share, "ratio");
  return seconds ? Format("{} ({})", ShowQuantity(*seconds, "seconds"), percent) : percent;
}

void WriteBuckets(const Comparison& comparison, Writer& writer) {
  Rows rows = {{"", "A", "B", "B - A"}};
  for (const BucketChange& bucket : comparison.buckets) {
    if (std::max(bucket.share.before.value_or(0), bucket.share.after.value_or(0)) < kTooSmallToShow) continue;
    std::string change = ChangeOf(bucket.share, "ratio", writer);
    if (bucket.seconds.before && bucket.seconds.after)
      change = ShowQuantity(*bucket.seconds.after - *bucket.seconds.before, "seconds");
    rows.push_back({writer.Text("bucket." + bucket.name),
                    BucketCell(bucket.share.before, bucket.seconds.before, writer),
                    BucketCell(bucket.share.after, bucket.seconds.after, writer), change});
  }
  if (rows.size() < 2) return;
  const std::string unit = comparison.ratio && comparison.unit_seconds.before ? comparison.ratio->unit : "share";
  writer.Heading(writer.Text("compare.section.buckets." + unit));
  WriteTable(writer, 2, rows);
}

void WriteMainBucket(const Comparison& comparison, Writer& writer) {
  for (const BucketChange& bucket : comparison.buckets) {
    if (bucket.name != comparison.mainly) continue;
    const double part = *bucket.seconds.after - *bucket.seconds.before;
    const double whole = *comparison.unit_seconds.after - *comparison.unit_seconds.before;
    writer.Paragraph(
        2, writer.Text("compare.mainly." + comparison.ratio->unit, {{"bucket", writer.Text("bucket." + bucket.name)},
                                                                    {"part", ShowQuantity(part, "seconds")},
                                                                    {"whole", ShowQuantity(whole, "seconds")}}));
  }
}

void WriteSettings(const Comparison& comparison, Writer& writer) {
  writer.Heading(writer.Text("compare.section.settings"));
  const Language language = writer.options().language;
  if (comparison.settings.empty()) writer.Paragraph(2, writer.Text("compare.settings.none"));
  for (const SettingChange& setting : comparison.settings) {
    // The last part of a name is its unit where it has one: bytes, seconds, ratio.
    const std::string unit = setting.name.substr(setting.name.rfind('.') + 1);
    const bool bytes = unit == "bytes" || unit.find("_bytes") != std::string::npos;
    // Why an agent could not tell is in its own words, and in the report of that session.
    const auto show = [&](const Value& value) {
      return value.known() ? ShowValue(value, bytes ? "bytes" : "", language) : MissingText(value.state, "", language);
    };
    writer.Item("  - ", writer.Text("compare.setting", {{"label", KeyLabel(setting.name, language)},
                                                        {"before", show(setting.before)},
                                                        {"after", show(setting.after)}}));
  }
}

void WriteFindings(const Comparison& comparison, Writer& writer) {
  if (comparison.findings.empty()) return;
  writer.Heading(writer.Text("compare.section.findings"));
  const auto share = [&](const std::optional<Finding>& finding) {
    if (!finding) return std::string("-");
    return finding->share_of_time ? ShowQuantity(*finding->share_of_time, "ratio")
                                  : writer.Text(Format("severity.{}", SeverityName(finding->severity)));
  };
  for (const FindingChange& change : comparison.findings) {
    const std::string kind(change.Kind());
    const Paint paint = kind == "gone" ? Paint::kGreen : kind == "new" ? Paint::kRed : Paint::kYellow;
    const std::string text =
        writer.Text("compare.finding", {{"title", FindingTitle(change.any(), writer.options().language)},
                                        {"id", change.any().id},
                                        {"cause", change.any().cause},
                                        {"before", share(change.before)},
                                        {"after", share(change.after)}});
    writer.Item(Format("  [{}] ", writer.Text("compare.finding." + kind)), text, paint);
  }
}

void WriteCaveats(const Comparison& comparison, Writer& writer) {
  if (comparison.caveats.empty()) return;
  writer.Heading(writer.Text("compare.section.caveats"));
  for (const Note& note : comparison.caveats)
    writer.Item("  - ", writer.Text("compare.caveat." + note.id, note.params));
}

void WriteLimit(const Comparison& comparison, Writer& writer) {
  if (!comparison.limit) return;
  const SpeedLimit& limit = *comparison.limit;
  const char* answer = !limit.failed ? "unknown" : *limit.failed ? "failed" : "kept";
  writer.Paragraph(2, writer.Text(Format("compare.limit.{}", answer),
                                  {{"limit", limit.text}, {"least", Format("{:.4g}", 1 - limit.slower)}}));
}

}  // namespace

std::string ComparisonText(const Comparison& comparison, const Options& options) {
  Writer writer(options);
  writer.Paragraph(0, ComparisonSentence(comparison, options.language), PaintOf(comparison.result));
  WriteMainBucket(comparison, writer);
  WriteRuns(comparison.before, "A", writer);
  WriteRuns(comparison.after, "B", writer);
  WriteLimit(comparison, writer);
  WriteCaveats(comparison, writer);
  WriteBuckets(comparison, writer);
  WriteSettings(comparison, writer);
  WriteFindings(comparison, writer);
  WriteReadings(comparison, writer);
  if (!comparison.next.empty()) {
    writer.Heading(writer.Text("section.next"));
    writer.Code(2, comparison.next);
  }
  return writer.Take();
}

}  // namespace gpuwhy::report
