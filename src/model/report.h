// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_MODEL_REPORT_H_
#define GPUWHY_MODEL_REPORT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/evidence.h"

namespace gpuwhy {

enum class GpuUsed : uint8_t { kUnknown, kNo, kPartly, kYes };
std::string_view GpuUsedName(GpuUsed used);

enum class Severity : uint8_t { kInfo, kWarning, kError };
std::string_view SeverityName(Severity severity);

// A piece of evidence under a finding. `key` names a metric or fact; its label in the user's language comes from
// locale/.
struct EvidenceItem {
  std::string key;
  Value value;
  std::string unit;
  Source source = Source::kOs;
  std::string where;
  std::string quote = {};  // the line of a text that it rests on
};

struct Speedup {
  double low = 1;
  double high = 1;
  bool measured = false;  // false: an upper bound
};

// One cause. Texts are not here: they come from the rule's page with `params` filled in.
struct Finding {
  std::string id;     // GWnnn
  std::string cause;  // kebab-case name of the contract
  Severity severity = Severity::kInfo;
  double confidence = 0;  // 0.95 stated by the system or measured, 0.8 two witnesses, 0.6 one witness or a relation
  std::optional<double> share_of_time;
  std::optional<Speedup> speedup;
  std::vector<EvidenceItem> evidence;
  std::map<std::string, std::string> params;
  std::vector<std::string> frameworks;  // fixes to show; empty = all
  std::string next;                     // command that would settle it; empty = the page's
  // Causes that this one brings about: it stands before them and answers for the time that they lose.
  std::vector<std::string> explains = {};
  // What this finding alone says of the job's use of the GPU; texts, which have no ladder, are judged by it.
  GpuUsed implies = GpuUsed::kUnknown;

  Finding& Param(std::string name, std::string value) {
    params[std::move(name)] = std::move(value);
    return *this;
  }
};

// What one rung of the ladder says. `says` is a key of locale/ with `params`.
struct WitnessStatement {
  Source rung = Source::kFramework;
  GpuUsed gpu_used = GpuUsed::kUnknown;
  std::string says;
  std::map<std::string, std::string> params;
  std::string state = "ok";  // ok, unavailable, no-permission, not-supported
  std::string why;
};

struct Breakdown {
  double input_wait = 0, copy = 0, gpu_compute = 0, communication = 0, launch = 0, sync = 0, checkpoint = 0, other = 0;
  // Named parts of `other`; reporters show them as metrics.
  double host_work = 0;  // the host did something of its own for so long that it was not dispatching
  double compiling = 0;  // compiling or collecting garbage
};

struct MetricValue {
  std::optional<double> value;
  std::string unit;
  State state = State::kUnknown;
  std::string source;
};

// How a rule answered, for `-v` and for tests.
struct RuleAnswer {
  std::string id;
  std::string name;
  std::string answer;  // fired, clear, cannot-tell
  std::vector<std::string> missing;
};

struct Verdict {
  GpuUsed gpu_used = GpuUsed::kUnknown;
  std::string cause = "insufficient-evidence";
  double confidence = 0;
  std::string summary;  // key of locale/ or, when `cause_finding` is set, the finding's own summary
  std::map<std::string, std::string> params;
  std::string next;  // command, empty = none
};

// The only input of reporters.
struct Report {
  Verdict verdict;
  std::vector<WitnessStatement> witnesses;
  std::vector<Finding> findings;
  std::vector<Gap> gaps;
  std::optional<Breakdown> breakdown;
  std::map<std::string, MetricValue> metrics;
  std::vector<RuleAnswer> rules;
  std::vector<Fact> subject;  // facts worth showing about host, GPUs, process and frameworks
};

}  // namespace gpuwhy

#endif  // GPUWHY_MODEL_REPORT_H_
