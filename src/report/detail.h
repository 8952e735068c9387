// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_DETAIL_H_
#define GPUWHY_REPORT_DETAIL_H_

#include "report/writer.h"

namespace gpuwhy::report {

// What -v adds: every fact, every metric and how each rule answered.
void WriteDetail(const Report& report, Writer& writer);

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_DETAIL_H_
