// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/deliver.h"
#include "cli/machine_text.h"
#include "report/error_text.h"
#include "session/machine.h"

namespace gpuwhy::cli {
namespace {

std::array<bool, 3>& ClosedAtStart() {
  static std::array<bool, 3> closed{};
  return closed;
}

// Columns of a terminal, held to what people read well; `fallback` for anything else.
int WidthOf(int fd, int fallback) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return fallback;
  return std::clamp(static_cast<int>(size.ws_col), 40, 120);
}

const report::Reporter* ByName(std::string_view name) {
  for (const report::Reporter* reporter : report::AllReporters()) {
    if (reporter->name == name) return reporter;
  }
  return nullptr;
}

const report::Reporter* ByExtension(std::string_view extension) {
  for (const report::Reporter* reporter : report::AllReporters()) {
    if (reporter->extension == extension) return reporter;
  }
  return nullptr;
}

const report::Reporter* ChooseReporter(const Arguments& arguments) {
  const bool asked = arguments.Has("--format") || arguments.Has("--json");
  if (asked || arguments.output.empty()) return ByName(arguments.options.format);
  const report::Reporter* fitting = ByExtension(std::filesystem::path(arguments.output).extension().string());
  return fitting != nullptr ? fitting : ByName(arguments.options.format);
}

// A pipe, a device or a terminal is written to, not replaced.
Result<void> WriteSpecial(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return ErrnoError("cannot write " + path, errno);
  Result<void> done = WriteDescriptor(fd, text);
  close(fd);
  if (!done) return Error{done.error().code, "cannot write " + path + ": " + done.error().message, done.error().hint};
  return done;
}

}  // namespace

void GuardStandardStreams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    ClosedAtStart()[static_cast<size_t>(fd)] = true;
    // open() takes the lowest free number: those below are open by now, hence it is `fd`.
    (void)open("/dev/null", O_RDWR | O_CLOEXEC);
  }
}

report::Options OptionsFor(const Arguments& arguments, int fd) {
  report::Options options = arguments.options;
  const bool to_terminal = arguments.output.empty() && isatty(fd) == 1;
  options.color = options.color && to_terminal;
  if (to_terminal) options.width = WidthOf(fd, options.width);
  return options;
}

Result<std::string> RenderReport(const Report& report, const Arguments& arguments, int fd) {
  const report::Reporter* reporter = ChooseReporter(arguments);
  if (reporter == nullptr) {
    return Error{ErrorCode::kUsage, Format("unknown format '{}'", arguments.options.format), "see --help"};
  }
  const report::Options options = OptionsFor(arguments, fd);
  if (reporter->name == "text" && IsMachineReport(report)) return MachineText(report, options);
  return reporter->render(report, options);
}

Result<void> WriteDescriptor(int fd, std::string_view text) {
  const bool closed = fd >= 0 && fd <= 2 && ClosedAtStart()[static_cast<size_t>(fd)];
  if (closed) return Error{ErrorCode::kIo, "it is closed", "use -o FILE"};
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  int failed = 0;
  while (!text.empty() && failed == 0) {
    const ssize_t put = write(fd, text.data(), text.size());
    if (put >= 0) text.remove_prefix(static_cast<size_t>(put));
    if (put < 0 && errno != EINTR) failed = errno;
  }
  sigaction(SIGPIPE, &before, nullptr);
  if (failed == 0 || failed == EPIPE) return {};
  const std::string why = ErrnoError("it", failed).message.substr(4);
  return Error{ErrorCode::kIo, why, failed == ENOSPC ? "free some space or use -o FILE" : ""};
}

Result<void> WriteResult(std::string_view text, const Arguments& arguments) {
  if (arguments.output.empty()) {
    const Result<void> done = WriteDescriptor(STDOUT_FILENO, text);
    if (done) return {};
    return Error{done.error().code, "cannot write to stdout: " + done.error().message, done.error().hint};
  }
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(arguments.output, error);
  if (fs::is_directory(status))
    return Error{ErrorCode::kIo, Format("cannot write {}: it is a folder", arguments.output), "name a file in it"};
  if (fs::exists(status) && !fs::is_regular_file(status)) return WriteSpecial(arguments.output, text);
  std::string path = arguments.output;
  if (fs::is_symlink(fs::symlink_status(path, error))) path = fs::weakly_canonical(path, error).string();
  return WriteFile(path.empty() ? arguments.output : path, text);
}

int StatusOf(const Report& report) {
  const auto bad = [](const Finding& finding) { return finding.severity != Severity::kInfo; };
  return std::any_of(report.findings.begin(), report.findings.end(), bad) ? 1 : 0;
}

int Fail(const Error& error, report::Language language) {
  std::string line = "gpuwhy: " + report::ErrorText(error, language);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  (void)WriteDescriptor(STDERR_FILENO, line + "\n");
  return 2;
}

int Deliver(const Report& report, const Arguments& arguments) {
  const Result<std::string> text = RenderReport(report, arguments, STDOUT_FILENO);
  const report::Language language = arguments.options.language;
  if (!text) return Fail(text.error(), language);
  if (const Result<void> done = WriteResult(*text, arguments); !done) return Fail(done.error(), language);
  return StatusOf(report);
}

}  // namespace gpuwhy::cli
