// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "session/diagnose.h"
#include "session/machine.h"
#include "session/read_text.h"
#include "session/session_file.h"
#include "session/session_store.h"
#include "session/share.h"

namespace gpuwhy {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

Error MoreThanAllowed(const std::string& name) {
  return {ErrorCode::kUnsupported, Format("cannot read {}: more than 1 GiB", name), "cut it to the part that matters"};
}

bool TooLarge(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) >= kMostBytes;
}

// read(2) and not a path: /dev/stdin cannot be opened again when it is a socket or belongs to another user.
Result<std::string> ReadStandardInput() {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("cannot read standard input", errno);
    if (got == 0) return text;
    if (text.size() + static_cast<size_t>(got) > kMostBytes) {
      return Error{ErrorCode::kUnsupported, "cannot read standard input: more than 1 GiB",
                   "save it to a file and cut it"};
    }
    text.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

Result<Report> DiagnoseInput(std::string_view text, const std::string& name) {
  const bool plain = !text.empty() && text.front() == '{' && LooksLikeSession(text);
  // The name of the schema survives every way of quoting; without it no line has to be looked at.
  const bool named = Contains(text, "gpuwhy.session/");
  const std::optional<std::string> quoted = plain || !named ? std::nullopt : FindQuotedSession(text);
  if (quoted) return DiagnoseInput(*quoted, name);
  if (!LooksLikeSession(text)) {
    const Result<Evidence> pasted = ReadText(text, name);
    return pasted ? Result<Report>(Judge(*pasted)) : Result<Report>(pasted.error());
  }
  Evidence evidence;
  const Result<SessionInfo> info = ReadSession(text, evidence);
  if (!info) {
    const Error& error = info.error();
    return Error{error.code, Format("cannot read {}: {}", name, error.message), error.hint};
  }
  return Judge(evidence);
}

Result<Report> DiagnoseFile(const std::string& path) {
  std::string file = path;
  if (path == "last") {
    Result<std::string> newest = NewestSession();
    if (!newest) return newest.error();
    file = *newest;
  }
  if (path != "-" && TooLarge(file)) return MoreThanAllowed(file);
  const Result<std::string> text = path == "-" ? ReadStandardInput() : ReadFile(file, kMostBytes);
  if (!text) return text.error();
  if (text->size() >= kMostBytes) return MoreThanAllowed(file);  // a device or pipe that does not end
  return DiagnoseInput(*text, path == "-" ? "standard input" : file);
}

}  // namespace gpuwhy
