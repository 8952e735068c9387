// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_COMPARISON_H_
#define GPUWHY_REPORT_COMPARISON_H_

#include <string>

#include "model/comparison.h"
#include "report/reporter.h"

namespace gpuwhy::report {

// The verdict of a comparison in one sentence.
std::string ComparisonSentence(const Comparison& comparison, Language language);

// The whole comparison for people, and as JSON (schema gpuwhy.compare/1, docs/schema/gpuwhy.compare-1.schema.json).
std::string ComparisonText(const Comparison& comparison, const Options& options);
std::string ComparisonJson(const Comparison& comparison, const Options& options);

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_COMPARISON_H_
