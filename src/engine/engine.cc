// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>
#include <map>

#include "engine/apple.h"
#include "engine/lookup.h"
#include "engine/rule.h"
#include "engine/text_facts.h"
#include "engine/text_verdict.h"

namespace gpuwhy {
namespace {

const Rule* RuleOf(const std::string& id) {
  for (const Rule* rule : AllRules()) {
    if (rule->id == id) return rule;
  }
  return nullptr;
}

Stage StageOf(const Finding& finding) {
  const Rule* rule = RuleOf(finding.id);
  return rule != nullptr ? rule->stage : Stage::kNote;
}

bool Obstacle(const Finding& finding) { return StageOf(finding) <= Stage::kCode; }

// Fixes are shown for the frameworks that the job runs on; all of them when none was seen.
StringList JobFrameworks(const RuleContext& context) {
  StringList names;
  for (const FrameworkSeen& seen : FrameworksSeen(context)) {
    if (seen.in_job && std::find(names.begin(), names.end(), seen.name) == names.end()) names.push_back(seen.name);
  }
  if (!names.empty()) names.emplace_back("any");
  return names;
}

void RunRules(const RuleContext& context, Report& report) {
  const StringList frameworks = JobFrameworks(context);
  const bool apple = OnApple(context.evidence);
  for (const Rule* rule : AllRules()) {
    RuleOutcome outcome = rule->check(context);
    const char* answer = outcome.kind == RuleOutcome::Kind::kFired   ? "fired"
                         : outcome.kind == RuleOutcome::Kind::kClear ? "clear"
                                                                     : "cannot-tell";
    report.rules.push_back({std::string(rule->id), std::string(rule->name), answer, std::move(outcome.missing)});
    for (Finding& finding : outcome.findings) {
      if (finding.frameworks.empty()) finding.frameworks = frameworks;
      if (apple) finding.frameworks.emplace_back(kApple);
      report.findings.push_back(std::move(finding));
    }
  }
}

// Lost time by which a finding is ranked: its own, or that of a finding which it explains.
double Weight(const Finding& finding, const std::vector<Finding>& all) {
  double weight = finding.share_of_time.value_or(0);
  if (finding.severity == Severity::kInfo) return weight;
  for (const Finding& other : all) {
    const auto& explained = finding.explains;
    if (std::find(explained.begin(), explained.end(), other.cause) != explained.end())
      weight = std::max(weight, other.share_of_time.value_or(0));
  }
  return weight;
}

// While the GPU is not used, obstacles come first, in the order in which they must be removed; everything else by lost
// time, what explains before what is explained, then severity, then id so that the order never depends on chance.
void Sort(Report& report, GpuUsed used) {
  std::map<std::string, double> weights;
  for (const Finding& finding : report.findings) weights[finding.id] = Weight(finding, report.findings);
  const auto weight = [&](const Finding& finding) { return weights.at(finding.id); };
  std::sort(report.findings.begin(), report.findings.end(), [used, &weight](const Finding& a, const Finding& b) {
    if (used != GpuUsed::kYes) {
      const Stage left = StageOf(a), right = StageOf(b);
      const bool a_first = left <= Stage::kCode, b_first = right <= Stage::kCode;
      if (a_first != b_first) return a_first;
      if (a_first && left != right) return left < right;
    }
    const bool a_calm = StageOf(a) == Stage::kVerdict, b_calm = StageOf(b) == Stage::kVerdict;
    if (a_calm != b_calm) return b_calm;
    if (weight(a) != weight(b)) return weight(a) > weight(b);
    const bool a_explains = !a.explains.empty() && a.severity != Severity::kInfo;
    const bool b_explains = !b.explains.empty() && b.severity != Severity::kInfo;
    if (a_explains != b_explains) return a_explains;
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.id < b.id;
  });
}

// First finding that decides: an obstacle while the GPU is not (fully) used, lost time from a tenth on while it is.
const Finding* Deciding(const Report& report, GpuUsed used) {
  for (const Finding& finding : report.findings) {
    if (finding.severity == Severity::kInfo) continue;
    const bool slow = StageOf(finding) == Stage::kSpeed && Weight(finding, report.findings) >= kShareWarning;
    if (used == GpuUsed::kYes ? slow : Obstacle(finding)) return &finding;
  }
  return nullptr;
}

const Finding* Named(const Report& report, std::string_view cause) {
  for (const Finding& finding : report.findings) {
    if (finding.cause == cause) return &finding;
  }
  return nullptr;
}

void SetVerdict(const Ladder& ladder, Report& report) {
  Verdict& verdict = report.verdict;
  verdict.gpu_used = ladder.gpu_used;
  verdict.confidence = ladder.confidence;
  const Finding* cause = Deciding(report, ladder.gpu_used);
  if (cause == nullptr) cause = Named(report, "witnesses-disagree");
  if (cause == nullptr)
    cause = Named(report, ladder.gpu_used == GpuUsed::kYes ? "gpu-in-use" : "insufficient-evidence");
  verdict.cause = cause != nullptr ? cause->cause : "insufficient-evidence";
  if (cause != nullptr) {
    verdict.next = cause->next;
    // How sure "no" is does not depend on how sure its cause is; where nothing is known, the cause is all there is.
    if (ladder.gpu_used == GpuUsed::kUnknown) verdict.confidence = cause->confidence;
  }
  // "Nothing costs a tenth of the time" holds only where nothing does.
  if (verdict.cause != "gpu-in-use") {
    const auto calm = [](const Finding& finding) { return finding.cause == "gpu-in-use"; };
    report.findings.erase(std::remove_if(report.findings.begin(), report.findings.end(), calm), report.findings.end());
  }
  verdict.summary = "verdict." + std::string(GpuUsedName(ladder.gpu_used));
}

// Facts that a reader wants to see about the subject, whatever the verdict.
void SetSubject(const Evidence& evidence, const Analysis& analysis, Report& report) {
  for (const char* prefix : {"host.", "driver.", "gpu.", "job.", "toolkit.", "nvidia_smi.", "python."}) {
    for (const Fact* fact : evidence.WithPrefix(prefix)) report.subject.push_back(*fact);
  }
  for (const char* prefix : {"framework.", "process."}) {
    for (const Fact* fact : evidence.WithPrefix(prefix)) {
      if (fact->entity.pid() == analysis.main_pid) report.subject.push_back(*fact);
    }
  }
}

}  // namespace

Report Diagnose(const Evidence& evidence) {
  const Analysis analysis = Analyse(evidence);
  const bool text = FromText(evidence);
  const Ladder ladder = text ? ClimbText(evidence) : Climb(evidence, analysis);
  Report report;
  report.witnesses = ladder.rungs;
  report.gaps = evidence.gaps();
  report.breakdown = analysis.breakdown;
  report.metrics = analysis.metrics;
  const RuleContext context{evidence, analysis, ladder};
  RunRules(context, report);
  if (text) {
    JudgeText(context, report);
  } else {
    Sort(report, ladder.gpu_used);
    SetVerdict(ladder, report);
  }
  SetSubject(evidence, analysis, report);
  return report;
}

}  // namespace gpuwhy
