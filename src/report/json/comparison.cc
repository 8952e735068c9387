// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <utility>

#include "base/json.h"
#include "report/json/subject.h"
#include "report/text.h"

// Schema gpuwhy.compare/1, published as docs/schema/gpuwhy.compare-1.schema.json.
namespace gpuwhy::report {
namespace {

Json Number(const std::optional<double>& value) { return value ? Rounded(*value) : Json(); }

Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json Pair(const BeforeAfter& value) {
  Json out;
  out.Set("before", Number(value.before));
  out.Set("after", Number(value.after));
  const bool both = value.before && value.after;
  out.Set("difference", both ? Rounded(*value.after - *value.before) : Json());
  return out;
}

Json VerdictJson(const Comparison& comparison, Language language) {
  Json out;
  out.Set("result", CompareResultName(comparison.result));
  out.Set("summary", ComparisonSentence(comparison, language));
  out.Set("mainly", TextOrNull(comparison.mainly));
  out.Set("why", comparison.unknown_why ? Json(comparison.unknown_why->id) : Json());
  out.Set("next", TextOrNull(comparison.next));
  return out;
}

Json RatioJson(const std::optional<SpeedRatio>& ratio) {
  if (!ratio) return {};
  Json out;
  out.Set("value", Rounded(ratio->value));
  out.Set("low", Number(ratio->low));
  out.Set("high", Number(ratio->high));
  out.Set("level", 0.95);
  out.Set("covers", ratio->between_runs ? "between-runs" : "within-runs");
  out.Set("unit", ratio->unit);
  out.Set("same_work", ratio->same_work);
  return out;
}

Json RunsJson(const std::vector<ComparedRun>& runs) {
  Json::Array out;
  for (const ComparedRun& run : runs) {
    Json item;
    item.Set("session", run.name);
    item.Set("started", TextOrNull(run.started));
    item.Set("gpu_used", GpuUsedName(run.gpu_used));
    item.Set("cause", run.cause);
    item.Set("seconds", Number(run.seconds));
    item.Set("steps", Number(run.steps));
    item.Set("units_per_second", Number(run.rate));
    out.push_back(std::move(item));
  }
  return out;
}

Json BreakdownJson(const Comparison& comparison) {
  Json out(Json::Object{});
  for (const BucketChange& bucket : comparison.buckets) {
    Json item;
    item.Set("share", Pair(bucket.share));
    item.Set("seconds_per_unit", Pair(bucket.seconds));
    out.Set(bucket.name, std::move(item));
  }
  return out;
}

Json MetricsJson(const Comparison& comparison) {
  Json out(Json::Object{});
  for (const MetricChange& metric : comparison.metrics) {
    Json item = Pair(metric.value);
    item.Set("unit", metric.unit);
    out.Set(metric.name, std::move(item));
  }
  return out;
}

Json SettingsJson(const Comparison& comparison, Language language) {
  Json::Array out;
  for (const SettingChange& setting : comparison.settings) {
    Json item;
    item.Set("name", setting.name);
    item.Set("what", KeyLabel(setting.name, language));
    item.Set("before", ValueJson(setting.before));
    item.Set("after", ValueJson(setting.after));
    out.push_back(std::move(item));
  }
  return out;
}

Json FindingJson(const std::optional<Finding>& finding) {
  if (!finding) return {};
  Json out;
  out.Set("severity", SeverityName(finding->severity));
  out.Set("confidence", Rounded(finding->confidence));
  out.Set("share_of_time", Number(finding->share_of_time));
  return out;
}

Json FindingsJson(const Comparison& comparison, Language language) {
  Json::Array out;
  for (const FindingChange& change : comparison.findings) {
    Json item;
    item.Set("id", change.any().id);
    item.Set("cause", change.any().cause);
    item.Set("title", FindingTitle(change.any(), language));
    item.Set("change", change.Kind());
    item.Set("before", FindingJson(change.before));
    item.Set("after", FindingJson(change.after));
    out.push_back(std::move(item));
  }
  return out;
}

Json CaveatsJson(const Comparison& comparison, Language language) {
  Json::Array out;
  for (const Note& note : comparison.caveats) {
    Json item;
    item.Set("id", note.id);
    item.Set("text", LocaleText("compare.caveat." + note.id, language, note.params));
    out.push_back(std::move(item));
  }
  return out;
}

Json LimitJson(const std::optional<SpeedLimit>& limit) {
  if (!limit) return {};
  Json out;
  out.Set("limit", limit->text);
  out.Set("failed", limit->failed ? Json(*limit->failed) : Json());
  return out;
}

}  // namespace

std::string ComparisonJson(const Comparison& comparison, const Options& options) {
  Json out;
  out.Set("schema", "gpuwhy.compare/1");
  out.Set("verdict", VerdictJson(comparison, options.language));
  out.Set("ratio", RatioJson(comparison.ratio));
  out.Set("seconds_per_unit", Pair(comparison.unit_seconds));
  out.Set("before", RunsJson(comparison.before));
  out.Set("after", RunsJson(comparison.after));
  out.Set("breakdown", comparison.buckets.empty() ? Json() : BreakdownJson(comparison));
  out.Set("metrics", MetricsJson(comparison));
  out.Set("settings", SettingsJson(comparison, options.language));
  out.Set("findings", FindingsJson(comparison, options.language));
  out.Set("caveats", CaveatsJson(comparison, options.language));
  out.Set("fail_on", LimitJson(comparison.limit));
  return out.Dump(2) + "\n";
}

}  // namespace gpuwhy::report
