// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/text_verdict.h"

#include <algorithm>
#include <functional>

#include "engine/text_facts.h"

namespace gpuwhy {
namespace {

// nvidia-smi's GPU-Util of a training job is normally above this (docs/explain.md, the four readings).
constexpr double kNormalDuty = 0.30;
// So many readings and a low mean is no accident.
constexpr size_t kEnoughReadings = 5;

Stage StageOf(const Finding& finding) {
  for (const Rule* rule : AllRules()) {
    if (rule->id == finding.id) return rule->stage;
  }
  return Stage::kNote;
}

bool Decides(const Finding& finding) { return finding.severity != Severity::kInfo; }

bool Calm(const Finding& finding) { return StageOf(finding) == Stage::kVerdict; }

// What decides comes first, in the order in which a user has to remove it; notes follow, the calm answers end.
void Sort(Report& report) {
  std::stable_sort(report.findings.begin(), report.findings.end(), [](const Finding& a, const Finding& b) {
    if (Calm(a) != Calm(b)) return Calm(b);
    if (Decides(a) != Decides(b)) return Decides(a);
    const bool a_proves = a.implies != GpuUsed::kUnknown, b_proves = b.implies != GpuUsed::kUnknown;
    if (Decides(a) && a_proves != b_proves) return a_proves;
    if (StageOf(a) != StageOf(b)) return StageOf(a) < StageOf(b);
    if (a.severity != b.severity) return a.severity > b.severity;
    if (a.confidence != b.confidence) return a.confidence > b.confidence;
    return a.id < b.id;
  });
}

const Finding* FirstThat(const Report& report, const std::function<bool(const Finding&)>& wanted) {
  const auto place = std::find_if(report.findings.begin(), report.findings.end(), wanted);
  return place == report.findings.end() ? nullptr : &*place;
}

const Finding* Named(const Report& report, std::string_view cause) {
  return FirstThat(report, [&](const Finding& finding) { return finding.cause == cause; });
}

// The GPU is used, but so little in so few readings that nothing can be said about how well.
bool TooFewReadings(const Evidence& evidence) {
  double highest = -1;
  size_t most = 0;
  for (const Entity& gpu : evidence.EntitiesWith("gpu.utilization.ratio")) {
    const Series& series = evidence.Samples("gpu.utilization.ratio", gpu);
    highest = std::max(highest, MaxOf(series, 0, 1e18).value_or(-1));
    most = std::max(most, series.size());
  }
  return highest >= 0 && highest < kNormalDuty && most < kEnoughReadings;
}

const Finding* Implying(const Report& report, GpuUsed used, bool decides) {
  return FirstThat(report,
                   [&](const Finding& finding) { return finding.implies == used && (!decides || Decides(finding)); });
}

// The calm answer to a text in which nothing decides.
const Finding* CalmCause(const RuleContext& context, const Report& report, GpuUsed used) {
  const Finding* none = Named(report, "insufficient-evidence");
  if (used == GpuUsed::kNo || used == GpuUsed::kPartly) return none;
  if (used == GpuUsed::kYes) return TooFewReadings(context.evidence) ? none : Named(report, "gpu-in-use");
  for (const char* cause : {"monitoring-artifact", "benign-warning"}) {
    if (const Finding* finding = Named(report, cause)) return finding;
  }
  return none;
}

struct Decision {
  GpuUsed used = GpuUsed::kUnknown;
  double confidence = 0;
  const Finding* cause = nullptr;
};

Decision Decide(const RuleContext& context, const Report& report) {
  const Ladder& ladder = context.ladder;
  for (const GpuUsed used : {GpuUsed::kNo, GpuUsed::kPartly}) {
    const Finding* finding = Implying(report, used, true);
    if (finding == nullptr) continue;
    // What only follows from a relation does not stand against a GPU that two rungs show at work.
    const bool refuted = used == GpuUsed::kNo && finding->confidence < kStated && ladder.gpu_used == GpuUsed::kYes &&
                         ladder.confidence >= kTwoWitnesses;
    return {refuted ? GpuUsed::kUnknown : used, finding->confidence, finding};
  }
  const Finding* deciding = FirstThat(report, Decides);
  if (const Finding* finding = Implying(report, GpuUsed::kYes, false)) {
    const Finding* cause = deciding != nullptr ? deciding : CalmCause(context, report, GpuUsed::kYes);
    return {GpuUsed::kYes, std::max(finding->confidence, ladder.confidence), cause};
  }
  if (deciding == nullptr) deciding = CalmCause(context, report, ladder.gpu_used);
  return {ladder.gpu_used, ladder.confidence, deciding};
}

// A calm finding that is not the answer would contradict it or repeat it; an artifact or a harmless line stays as a
// note.
void DropCalm(Report& report) {
  // Beside a misleading display or a harmless line the question stays open: what would settle it is worth a finding.
  const bool open = report.verdict.gpu_used == GpuUsed::kUnknown;
  const auto idle = [&](const Finding& finding) {
    if (open && finding.cause == "insufficient-evidence") return false;
    return finding.cause != report.verdict.cause &&
           (finding.cause == "gpu-in-use" || finding.cause == "insufficient-evidence" ||
            finding.cause == "witnesses-disagree");
  };
  report.findings.erase(std::remove_if(report.findings.begin(), report.findings.end(), idle), report.findings.end());
}

// The cause stands first, whatever its stage.
void CauseFirst(Report& report) {
  const auto place = std::find_if(report.findings.begin(), report.findings.end(),
                                  [&](const Finding& finding) { return finding.cause == report.verdict.cause; });
  if (place != report.findings.end()) std::rotate(report.findings.begin(), place, place + 1);
}

}  // namespace

void JudgeText(const RuleContext& context, Report& report) {
  Sort(report);
  Decision decision = Decide(context, report);
  if (decision.cause == nullptr) decision.cause = Named(report, "insufficient-evidence");
  Verdict& verdict = report.verdict;
  verdict.gpu_used = decision.used;
  verdict.cause = decision.cause != nullptr ? decision.cause->cause : "insufficient-evidence";
  verdict.confidence = decision.cause != nullptr && decision.cause->cause != "insufficient-evidence"
                           ? std::min(decision.confidence > 0 ? decision.confidence : 1.0, decision.cause->confidence)
                           : decision.confidence;
  if (decision.cause != nullptr) verdict.next = decision.cause->next;
  verdict.summary = "";  // the sentence of the cause
  DropCalm(report);
  CauseFirst(report);
  // Rules see the rungs only; what is known can also follow from another finding.
  if (verdict.cause == "insufficient-evidence" && !report.findings.empty() && verdict.gpu_used != GpuUsed::kUnknown)
    report.findings.front().params["known"] = verdict.gpu_used == GpuUsed::kNo ? "@known.no" : "@known.yes";
}

}  // namespace gpuwhy
