// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_JSON_SUBJECT_H_
#define GPUWHY_REPORT_JSON_SUBJECT_H_

#include <vector>

#include "base/json.h"
#include "model/evidence.h"

namespace gpuwhy::report {

// Six significant digits: the same text on every machine. Whole numbers stay exact; what is no number is null.
Json Rounded(double value);

// A known value as JSON, anything else null.
Json ValueJson(const Value& value);

// What the report is about: {host, gpus[], process, frameworks[]}, and other_processes[] and interpreters[] when there
// are some. A fact becomes a field named by its last parts; what is not known is null and says why under "unknown".
Json SubjectJson(const std::vector<Fact>& facts);

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_JSON_SUBJECT_H_
