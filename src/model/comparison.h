// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_MODEL_COMPARISON_H_
#define GPUWHY_MODEL_COMPARISON_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/report.h"

namespace gpuwhy {

// A and B, before and after a change.
struct BeforeAfter {
  std::optional<double> before, after;
};

struct ComparedRun {
  std::string name;                      // the file
  std::string started;                   // RFC 3339
  std::optional<double> seconds, steps;  // of the steady state that was counted
  std::optional<double> rate;            // units of work a second
  GpuUsed gpu_used = GpuUsed::kUnknown;
  std::string cause;
};

enum class CompareResult : uint8_t { kUnknown, kNoDifference, kFaster, kSlower };
std::string_view CompareResultName(CompareResult result);

// Throughput of B over that of A.
struct SpeedRatio {
  double value = 1;
  std::optional<double> low, high;  // 95 % interval
  bool between_runs = false;        // the interval holds what differs from process to process
  std::string unit;                 // step, sample, kernel-sequence
  std::string same_work = "yes";    // unknown: whether a unit is the same work was not seen; no: it is not
};

struct BucketChange {
  std::string name;  // field of Breakdown
  BeforeAfter share;
  BeforeAfter seconds;  // a unit of work; nothing where the pace is not known
};

struct MetricChange {
  std::string name, unit;
  BeforeAfter value;
};

// A fact of the job or the machine that is not the same. Value::Missing where a side says nothing of it.
struct SettingChange {
  std::string name;
  Value before, after;
};

// gone: only before; new: only after; kept: both.
struct FindingChange {
  std::optional<Finding> before, after;
  const Finding& any() const { return after ? *after : *before; }
  std::string_view Kind() const { return !after ? "gone" : before ? "kept" : "new"; }
};

// A text of locale/ ("compare.caveat.<id>") with its parameters.
struct Note {
  std::string id;
  std::map<std::string, std::string> params;
};

// What --fail-on asked for.
struct SpeedLimit {
  std::string text;            // "slower:3%"
  double slower = 0;           // 0.03: B may keep 0.97 of the speed of A
  std::optional<bool> failed;  // nothing where no interval is known
};

// Two sides of recorded sessions against each other. The only input of the texts and the JSON of `compare`.
struct Comparison {
  std::vector<ComparedRun> before, after;
  CompareResult result = CompareResult::kUnknown;
  std::optional<SpeedRatio> ratio;
  std::optional<Note> unknown_why;  // "compare.why.<id>": why there is no result
  BeforeAfter unit_seconds;         // time of a unit of work
  std::vector<BucketChange> buckets;
  std::string mainly;  // bucket that holds most of a faster or slower result; empty where there is none
  std::vector<MetricChange> metrics;
  std::vector<SettingChange> settings;
  std::vector<FindingChange> findings;
  std::vector<Note> caveats;
  std::optional<SpeedLimit> limit;
  std::string next;  // command that would settle what stays open; empty = nothing
};

}  // namespace gpuwhy

#endif  // GPUWHY_MODEL_COMPARISON_H_
