// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_DIAGNOSE_H_
#define GPUWHY_SESSION_DIAGNOSE_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/report.h"

namespace gpuwhy {

// Report of a file: a recorded session (also one that doctor --share quotes in a post) or any pasted text. "-" is
// standard input, "last" the newest session of this user. The same bytes always give the same report. Errors say what
// was found instead: nothing, binary data (kUnsupported), a session of another schema (kMalformed).
Result<Report> DiagnoseFile(const std::string& path);

// The same for bytes at hand; `name` stands for them in messages.
Result<Report> DiagnoseInput(std::string_view text, const std::string& name);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_DIAGNOSE_H_
