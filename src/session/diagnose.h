// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_DIAGNOSE_H_
#define GPUWHY_SESSION_DIAGNOSE_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/report.h"

namespace gpuwhy {

// Report of the recorded session in a file, of standard input ("-") or of the newest session of this user ("last"). The
// same bytes always give the same report. Errors say what was found instead of a session: nothing, binary data, another
// format (kUnsupported), another schema (kMalformed).
Result<Report> DiagnoseSessionFile(const std::string& path);

// The same for a session's text; `name` stands for it in messages.
Result<Report> DiagnoseSession(std::string_view text, const std::string& name);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_DIAGNOSE_H_
