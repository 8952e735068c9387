// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/session_store.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/format.h"

namespace gpuwhy {
namespace {

namespace fs = std::filesystem;

struct StoredSession {
  fs::path path;
  fs::file_time_type written;
  uint64_t bytes = 0;
};

// Sessions of a folder, newest first; equal times (a coarse file system) by name, which begins with the time.
std::vector<StoredSession> List(const std::string& folder) {
  std::vector<StoredSession> sessions;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  if (error) return sessions;
  for (; at != fs::directory_iterator(); at.increment(error)) {
    if (error) break;
    std::error_code failed;
    if (at->path().extension() != ".gpuwhy" || !at->is_regular_file(failed)) continue;
    const fs::file_time_type written = at->last_write_time(failed);
    const uint64_t bytes = at->file_size(failed);
    if (!failed) sessions.push_back({at->path(), written, bytes});
  }
  std::sort(sessions.begin(), sessions.end(), [](const StoredSession& left, const StoredSession& right) {
    return left.written != right.written ? left.written > right.written : left.path > right.path;
  });
  return sessions;
}

}  // namespace

Result<std::string> SessionFolder() {
  const std::string state = Environment("XDG_STATE_HOME").value_or("");
  if (!state.empty() && state.front() == '/') return state + "/gpuwhy/sessions";
  const std::string home = Environment("HOME").value_or("");
  if (!home.empty()) return home + "/.local/state/gpuwhy/sessions";
  return Error{ErrorCode::kNotFound, "no folder for sessions: HOME and XDG_STATE_HOME are not set",
               "name a file with --session FILE"};
}

Result<std::string> NewSessionPath(int64_t wall_ns, int64_t pid) {
  Result<std::string> folder = SessionFolder();
  if (!folder) return folder;
  // A home that is not there (services, containers of another user) is not made: nobody would look for sessions in it.
  const std::string home = Environment("HOME").value_or("");
  std::error_code ignored;
  if (!home.empty() && folder->rfind(home + "/.local/", 0) == 0 && !fs::is_directory(home, ignored))
    return Error{ErrorCode::kNotFound, Format("no folder for sessions: HOME ({}) is no folder", home),
                 "name a file with --session FILE"};
  if (const Result<void> made = MakeFolders(*folder); !made) return made.error();
  std::string time = Rfc3339(wall_ns).substr(0, 19);  // to the second: "2026-01-31T12:00:00"
  time.erase(std::remove_if(time.begin(), time.end(), [](char c) { return c == '-' || c == ':'; }), time.end());
  return Format("{}/{}-{}.gpuwhy", *folder, time, pid);
}

Result<std::string> NewestSession(size_t back) {
  Result<std::string> folder = SessionFolder();
  if (!folder) return folder;
  const std::vector<StoredSession> sessions = List(*folder);
  if (back < sessions.size()) return sessions[back].path.string();
  if (!sessions.empty())
    return Error{ErrorCode::kNotFound, Format("no session last~{}: {} holds {}", back, *folder, sessions.size()),
                 "record one more with: gpuwhy run -- CMD"};
  return Error{ErrorCode::kNotFound, Format("no session yet: {} holds none", *folder),
               "record one with: gpuwhy run -- CMD"};
}

void PruneSessions(const std::string& folder, size_t files, uint64_t bytes) {
  size_t kept = 0;
  uint64_t used = 0;
  for (const StoredSession& session : List(folder)) {
    used += session.bytes;
    if (kept++ == 0 || (kept <= files && used <= bytes)) continue;
    std::error_code ignored;
    fs::remove(session.path, ignored);
  }
}

}  // namespace gpuwhy
