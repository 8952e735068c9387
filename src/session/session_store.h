// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_SESSION_STORE_H_
#define GPUWHY_SESSION_SESSION_STORE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace gpuwhy {

inline constexpr size_t kSessionsKept = 20;
inline constexpr uint64_t kSessionBytesKept = 1'000'000'000;

// Where sessions without a name of their own go: $XDG_STATE_HOME/gpuwhy/sessions, else ~/.local/state/gpuwhy/sessions
// (XDG Base Directory Specification: a relative XDG_STATE_HOME counts as not set). kNotFound without a home.
Result<std::string> SessionFolder();

// A new name in that folder (made when missing): UTC time of `wall_ns` and PID, so that names sort by time.
Result<std::string> NewSessionPath(int64_t wall_ns, int64_t pid);

// The session written last, or the one `back` sessions before it. kNotFound when there is none, with the command that
// records one.
Result<std::string> NewestSession(size_t back = 0);

// Removes the oldest sessions of the folder until at most `files` files and `bytes` bytes are left. The newest always
// stays: it may be the one that is being written. A file that cannot be removed is left.
void PruneSessions(const std::string& folder, size_t files = kSessionsKept, uint64_t bytes = kSessionBytesKept);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_SESSION_STORE_H_
