// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "session/input.h"
#include "session/session_store.h"

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

// What to do about a file that cannot be read.
Error WithAdvice(Error error) {
  if (!error.hint.empty()) return error;
  if (error.code == ErrorCode::kNotFound) error.hint = "check the path, or pipe the text in: ... | gpuwhy explain -";
  if (error.code == ErrorCode::kPermission)
    error.hint = "run gpuwhy as the user who may read it, or: sudo cat FILE | gpuwhy explain -";
  if (Contains(error.message, "Is a directory")) error.hint = "give the files in it, for example DIR/*.log";
  return error;
}

// "last" and "last~2", as git names what lies back; anything else is a path.
std::optional<size_t> StepsBack(std::string_view name) {
  if (name == "last") return 0;
  if (name.substr(0, 5) != "last~") return std::nullopt;
  const std::optional<long long> back = ParseInt(name.substr(5));
  return back && *back >= 0 ? std::optional<size_t>(static_cast<size_t>(*back)) : std::nullopt;
}

}  // namespace

Result<Input> ReadInput(const std::string& path) {
  std::string file = path;
  if (const std::optional<size_t> back = StepsBack(path)) {
    Result<std::string> stored = NewestSession(*back);
    if (!stored) return stored.error();
    file = *stored;
  }
  if (path != "-" && TooLarge(file)) return MoreThanAllowed(file);
  Result<std::string> text = path == "-" ? ReadStandardInput() : ReadFile(file, kMostBytes);
  if (!text) return WithAdvice(text.error());
  if (text->size() >= kMostBytes) return MoreThanAllowed(file);  // a device or pipe that does not end
  return Input{std::move(*text), path == "-" ? "standard input" : file};
}

}  // namespace gpuwhy
