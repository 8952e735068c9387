// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_TEXT_H_
#define GPUWHY_REPORT_TEXT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"
#include "report/reporter.h"

namespace gpuwhy::report {

// One remedy of a finding, placeholders filled in.
struct Fix {
  std::string framework;  // pytorch, tensorflow, jax or any
  std::string text;
  std::string code;  // empty = nothing to type
};

// {{name}} replaced by its parameter; "?" where the caller has none, so that no reader meets braces. A parameter of the
// form "@key" stands for that text of locale/.
std::string FillPlaceholders(std::string_view text, const std::map<std::string, std::string>& params,
                             Language language = Language::kEnglish);

bool HasLocaleText(std::string_view key);

// Remedies of the finding's page, only those of its frameworks when it names some ("any" always stays).
std::vector<Fix> FindingFixes(const Finding& finding, Language language);

// Title of a cause by its kebab-case name; the name itself when there is no page for it.
std::string CauseTitle(std::string_view cause, Language language);

// Why a witness cannot speak, in words; empty when it can.
std::string WitnessWhy(const WitnessStatement& statement, Language language);

// A value for people: numbers with their unit, booleans and missing values in words.
std::string ShowValue(const Value& value, std::string_view unit, Language language);

// A command whose comment ("nvidia-smi  # at the moment of the failure") is in the asked language; the command itself
// never changes. Comments are found in locale/ by their English letters.
std::string NextText(const std::string& command, Language language);

// Text of `value` when it is missing: "not supported (N/A)"; never empty.
std::string MissingText(State state, std::string_view why, Language language);

// "high: …" for a confidence of 0..1, in the steps of the contract.
std::string ConfidenceText(double confidence, Language language);

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_TEXT_H_
