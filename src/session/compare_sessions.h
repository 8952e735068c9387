// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_COMPARE_SESSIONS_H_
#define GPUWHY_SESSION_COMPARE_SESSIONS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "model/comparison.h"

namespace gpuwhy {

// Compares recorded sessions of jobs: paths, "-" (once) for standard input, "last", "last~1". Errors name the file and
// what it is instead of a session: a text, a look at a machine (kUnsupported), a session of another schema
// (kMalformed).
Result<Comparison> CompareSessions(const std::vector<std::string>& before, const std::vector<std::string>& after);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_COMPARE_SESSIONS_H_
