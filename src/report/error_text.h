// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_ERROR_TEXT_H_
#define GPUWHY_REPORT_ERROR_TEXT_H_

#include <string>

#include "base/result.h"
#include "report/reporter.h"

namespace gpuwhy::report {

// "what: why; what to do" on one line in the asked language. Errors are written in English where they arise, far below
// the texts of locale/; here they are found again by their English words (locale keys "error.*"), as gettext does. What
// has no translation stays English.
std::string ErrorText(const Error& error, Language language);

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_ERROR_TEXT_H_
