// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_REPORTER_H_
#define GPUWHY_REPORT_REPORTER_H_

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/report.h"

namespace gpuwhy::report {

enum class Language { kEnglish, kChinese };

struct Options {
  std::string format = "text";  // name of a reporter
  Language language = Language::kEnglish;
  bool color = false;
  int width = 100;       // columns for wrapped text
  bool verbose = false;  // every rule's answer, every metric
};

// One output format, a folder each: constant kReporter_<folder>.
struct Reporter {
  std::string_view name;       // "json", "text"
  std::string_view extension;  // ".json"
  std::string (*render)(const Report& report, const Options& options);
};

std::span<const Reporter* const> AllReporters();

// Text of locale/<language>.json with {{name}} replaced by `params`; an unknown key is its own text.
std::string LocaleText(std::string_view key, Language language, const std::map<std::string, std::string>& params = {});

// Sentence for the verdict, for a witness and for a finding in the user's language (from locale/ and the rules' pages).
std::string VerdictSentence(const Report& report, Language language);
std::string WitnessSentence(const WitnessStatement& statement, Language language);
std::string FindingTitle(const Finding& finding, Language language);
std::string FindingSummary(const Finding& finding, Language language);
std::string FindingNext(const Finding& finding, Language language);
// Label of a metric or fact for people; the key itself when there is no better.
std::string KeyLabel(std::string_view key, Language language);
// A number with its unit for people: 0.43 ratio -> "43 %", 143771 MiB in bytes -> "140.4 GiB", 0.0021 s -> "2.1 ms".
std::string ShowQuantity(double value, std::string_view unit);

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_REPORTER_H_
