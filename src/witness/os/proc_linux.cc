// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/proc_linux.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"

namespace gpuwhy::os {
namespace {

std::string ProcPath(int64_t pid, std::string_view rest) { return "/proc/" + std::to_string(pid) + std::string(rest); }

// Names of a folder that are numbers, without the cost of sorting texts.
std::vector<int64_t> Numbers(const std::string& path) {
  std::vector<int64_t> numbers;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return numbers;
  while (const dirent* entry = readdir(folder)) {
    if (const std::optional<long long> number = ParseInt(entry->d_name)) numbers.push_back(*number);
  }
  closedir(folder);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

uint64_t Field(const std::vector<std::string_view>& fields, size_t number) {
  // Fields count from 1; those after the name start at 3.
  const size_t index = number - 3;
  if (index >= fields.size()) return 0;
  uint64_t value = 0;
  for (const char digit : fields[index]) {
    if (digit < '0' || digit > '9') return value;
    value = value * 10 + static_cast<uint64_t>(digit - '0');
  }
  return value;
}

}  // namespace

Result<ProcStat> ParseStat(std::string_view text) {
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || close + 2 >= text.size()) {
    return Error{ErrorCode::kMalformed, "not a line of /proc/PID/stat", ""};
  }
  const std::vector<std::string_view> fields = Split(Trim(text.substr(close + 2)), ' ');
  if (fields.size() < 22 || fields[0].size() != 1)
    return Error{ErrorCode::kMalformed, "too few fields in /proc/PID/stat", ""};
  ProcStat stat;
  stat.name = std::string(text.substr(open + 1, close - open - 1));
  stat.state = fields[0][0];
  stat.parent = static_cast<int64_t>(Field(fields, 4));
  stat.user = Field(fields, 14);
  stat.system = Field(fields, 15);
  stat.children_user = Field(fields, 16);
  stat.children_system = Field(fields, 17);
  stat.threads = static_cast<int64_t>(Field(fields, 20));
  stat.start = Field(fields, 22);
  stat.rss = static_cast<int64_t>(Field(fields, 24));
  stat.block_io_delay = Field(fields, 42);
  stat.program = Field(fields, 48) * 31 + Field(fields, 50);
  return stat;
}

Result<std::string> ReadSmall(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoError("cannot read " + path, errno);
  char buffer[1 << 14];
  const ssize_t got = read(fd, buffer, sizeof buffer);
  const int error_number = errno;
  close(fd);
  if (got < 0) return ErrnoError("cannot read " + path, error_number);
  return std::string(buffer, static_cast<size_t>(got));
}

Result<ProcStat> ReadStat(int64_t pid) {
  const Result<std::string> text = ReadSmall(ProcPath(pid, "/stat"));
  if (!text) return text.error();
  return ParseStat(*text);
}

Result<ProcStat> ReadThreadStat(int64_t pid, int64_t tid) {
  const Result<std::string> text = ReadSmall(ProcPath(pid, "/task/" + std::to_string(tid) + "/stat"));
  if (!text) return text.error();
  return ParseStat(*text);
}

std::vector<int64_t> AllPids() { return Numbers("/proc"); }

std::vector<int64_t> Threads(int64_t pid) { return Numbers(ProcPath(pid, "/task")); }

std::optional<std::vector<int64_t>> ThreadChildren(int64_t pid, int64_t tid) {
  const Result<std::string> text = ReadSmall(ProcPath(pid, "/task/" + std::to_string(tid) + "/children"));
  if (!text) return std::nullopt;
  std::vector<int64_t> children;
  for (const std::string_view word : Split(*text, ' ')) {
    if (const std::optional<long long> pid_of_child = ParseInt(word)) children.push_back(*pid_of_child);
  }
  return children;
}

Result<uint64_t> ReadBytes(int64_t pid) {
  const Result<std::string> text = ReadSmall(ProcPath(pid, "/io"));
  if (!text) return text.error();
  for (const std::string_view line : Lines(*text)) {
    if (line.substr(0, 11) != "read_bytes:") continue;
    if (const std::optional<long long> bytes = ParseInt(Trim(line.substr(11)))) return static_cast<uint64_t>(*bytes);
  }
  return Error{ErrorCode::kUnsupported, "this kernel does not account I/O of processes", ""};
}

std::optional<double> RunDelay(int64_t pid) {
  const Result<std::string> text = ReadSmall("/proc/" + std::to_string(pid) + "/schedstat");
  if (!text) return std::nullopt;
  const std::vector<std::string_view> numbers = Split(Trim(*text), ' ');
  const std::optional<long long> delay = numbers.size() == 3 ? ParseInt(numbers[1]) : std::nullopt;
  return delay && *delay >= 0 ? std::optional<double>(static_cast<double>(*delay) * 1e-9) : std::nullopt;
}

std::vector<std::string> SplitZero(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find('\0');
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

Result<std::vector<std::string>> OpenDevices(const HostRoot& root, int64_t pid) {
  const std::string path = ProcPath(pid, "/fd");
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return ErrnoError("cannot list " + path, errno);
  std::vector<std::string> devices;
  const std::string own_dev = root.Path("/dev/");
  const size_t prefix = own_dev.size() - 5;
  char target[512];
  int left = 4096;
  while (const dirent* entry = readdir(folder)) {
    if (--left < 0) break;
    const ssize_t size = readlinkat(dirfd(folder), entry->d_name, target, sizeof target);
    if (size <= 0) continue;
    std::string_view link(target, static_cast<size_t>(size));
    if (prefix > 0 && link.substr(0, own_dev.size()) == own_dev) link.remove_prefix(prefix);
    if (link.substr(0, 11) == "/dev/nvidia" || link == "/dev/dxg") devices.emplace_back(link);
  }
  closedir(folder);
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

bool IsGpuDevice(std::string_view device) {
  if (device == "/dev/dxg" || device == "/dev/nvidia-uvm") return true;
  const std::string_view number = device.substr(std::min<size_t>(device.size(), 11));
  return device.substr(0, 11) == "/dev/nvidia" && !number.empty() &&
         number.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace gpuwhy::os
