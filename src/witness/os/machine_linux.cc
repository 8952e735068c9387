// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/machine_linux.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/environment.h"
#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "witness/os/cgroup_linux.h"
#include "witness/os/host_facts.h"

namespace gpuwhy::os {

Value ValueOf(const Error& error) {
  State state = State::kUnknown;
  if (error.code == ErrorCode::kNotFound) state = State::kNotFound;
  if (error.code == ErrorCode::kPermission) state = State::kNoPermission;
  if (error.code == ErrorCode::kUnsupported) state = State::kUnsupported;
  return Value::Missing(state, error.message);
}

std::optional<int64_t> CountCpuList(std::string_view list) {
  int64_t count = 0;
  for (const std::string_view range : Split(Trim(list), ',')) {
    const std::vector<std::string_view> ends = Split(range, '-');
    const std::optional<long long> first = ParseInt(ends[0]);
    const std::optional<long long> last = ends.size() == 2 ? ParseInt(ends[1]) : first;
    if (!first || !last || ends.size() > 2 || *first < 0 || *last < *first) return std::nullopt;
    count += *last - *first + 1;
  }
  return count;
}

Value OwnPidNamespace(std::string_view link) {
  if (link.substr(0, 5) != "pid:[")
    return Value::Missing(State::kUnknown, Format("unexpected link {}", std::string(link)));
  // PROC_PID_INIT_INO, the fixed inode number of the first PID namespace (Linux include/linux/proc_ns.h).
  return Value::Of(link != "pid:[4026531836]");
}

namespace {

// Value of KEY=value in an os-release file, quotes removed.
std::optional<std::string> OsRelease(std::string_view text, std::string_view key) {
  for (std::string_view line : Lines(text)) {
    line = Trim(line);
    if (line.size() <= key.size() || line.substr(0, key.size()) != key || line[key.size()] != '=') continue;
    std::string_view value = line.substr(key.size() + 1);
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
      value = value.substr(1, value.size() - 2);
    }
    return std::string(value);
  }
  return std::nullopt;
}

void AddSystem(const HostRoot& root, HostFacts& facts) {
  Result<std::string> release = ReadFile(root.Path("/etc/os-release"), 1 << 16);
  if (!release) release = ReadFile(root.Path("/usr/lib/os-release"), 1 << 16);
  if (!release) {
    facts.Add("host.os.name", release.error());
    facts.Add("host.os.version", release.error());
  } else {
    const std::optional<std::string> name = OsRelease(*release, "NAME");
    const std::optional<std::string> version = OsRelease(*release, "VERSION_ID");
    facts.Add("host.os.name", name ? Value::Of(*name) : Value::Missing(State::kNotFound, "os-release has no NAME"),
              "/etc/os-release");
    facts.Add("host.os.version",
              version ? Value::Of(*version) : Value::Missing(State::kNotFound, "os-release has no VERSION_ID"),
              "/etc/os-release");
  }
  const Result<std::string> kernel = ReadFile(root.Path("/proc/sys/kernel/osrelease"), 4096);
  if (!kernel) {
    facts.Add("host.kernel", kernel.error());
    facts.Add("host.wsl", kernel.error());
  } else {
    facts.Add("host.kernel", std::string(Trim(*kernel)));
    // Microsoft's kernels say so in their release name: "5.15.153.1-microsoft-standard-WSL2", "4.4.0-19041-Microsoft".
    facts.Add("host.wsl", Contains(Lower(*kernel), "microsoft"), "/proc/sys/kernel/osrelease");
  }
  facts.Add("host.dxg", FileExists(root.Path("/dev/dxg")), "/dev/dxg");
}

void AddCpu(const HostRoot& root, HostFacts& facts) {
  const Result<std::string> online = ReadFile(root.Path("/sys/devices/system/cpu/online"), 4096);
  std::optional<int64_t> count = online ? CountCpuList(*online) : std::nullopt;
  if (!count && !root.is_fake()) {
    const long configured = sysconf(_SC_NPROCESSORS_ONLN);
    if (configured > 0) count = configured;
  }
  facts.Add("host.cpu.count", count    ? Value::Of(*count)
                              : online ? Value::Missing(State::kUnknown, "malformed CPU list")
                                       : ValueOf(online.error()));
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    facts.Add("host.cpu.allowed", int64_t{CPU_COUNT(&allowed)}, "sched_getaffinity");
  } else {
    facts.Add("host.cpu.allowed", ErrnoError("sched_getaffinity", errno));
  }
  const Result<std::string> info = ReadFile(root.Path("/proc/cpuinfo"), 1 << 16);
  if (!info) return facts.Add("host.cpu.model", info.error());
  for (const std::string_view line : Lines(*info)) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || Trim(line.substr(0, colon)) != "model name") continue;
    return facts.Add("host.cpu.model", std::string(Trim(line.substr(colon + 1))), "/proc/cpuinfo");
  }
  facts.Add("host.cpu.model", Value::Missing(State::kUnsupported, "/proc/cpuinfo has no model name"));
}

Value TotalMemory(const HostRoot& root) {
  const Result<std::string> info = ReadFile(root.Path("/proc/meminfo"), 1 << 16);
  if (!info) return ValueOf(info.error());
  for (const std::string_view line : Lines(*info)) {
    if (line.substr(0, 9) != "MemTotal:") continue;
    std::string_view number = Trim(line.substr(9));
    if (number.size() > 3 && number.substr(number.size() - 3) == " kB") number.remove_suffix(3);
    if (const std::optional<long long> kilobytes = ParseInt(number)) return Value::Of(int64_t{*kilobytes * 1024});
  }
  return Value::Missing(State::kUnknown, "/proc/meminfo has no MemTotal");
}

// Where container engines leave their mark. Their own files come first: a Kubernetes pod may run on any engine.
Value Container(const HostRoot& root) {
  if (FileExists(root.Path("/var/run/secrets/kubernetes.io")) || FileExists(root.Path("/run/secrets/kubernetes.io"))) {
    return Value::Of("kubernetes");
  }
  if (!root.is_fake() && Environment("KUBERNETES_SERVICE_HOST")) return Value::Of("kubernetes");
  if (FileExists(root.Path("/run/.containerenv"))) return Value::Of("podman");
  if (FileExists(root.Path("/.dockerenv"))) return Value::Of("docker");
  if (FileExists(root.Path("/.singularity.d")) || FileExists(root.Path("/singularity")))
    return Value::Of("singularity");
  // systemd's manager in a container writes the engine's name here (systemd.io/CONTAINER_INTERFACE).
  const Result<std::string> manager = ReadFile(root.Path("/run/systemd/container"), 256);
  if (manager && !Trim(*manager).empty()) {
    const std::string name(Trim(*manager));
    return Value::Of(name.substr(0, 3) == "lxc" ? std::string("lxc") : name);
  }
  if (FileExists(root.Path("/dev/lxd/sock")) || FileExists(root.Path("/dev/.lxc"))) return Value::Of("lxc");
  // On WSL the mark "container=" is not there and none of the files above: no container.
  return Value::Of("");
}

}  // namespace

void AddMachineFacts(const HostRoot& root, EvidenceSink& sink) {
  HostFacts facts(sink);
  AddSystem(root, facts);
  AddCpu(root, facts);
  facts.Add("host.memory.total.bytes", TotalMemory(root), "/proc/meminfo");
  const Result<std::string> membership = ReadFile("/proc/self/cgroup", 1 << 16);
  if (membership) {
    facts.Add("host.cgroup.cpu_limit", CgroupCpuLimit(root, *membership));
    facts.Add("host.cgroup.memory_limit.bytes", CgroupMemoryLimit(root, *membership));
  } else {
    facts.Add("host.cgroup.cpu_limit", membership.error());
    facts.Add("host.cgroup.memory_limit.bytes", membership.error());
  }
  facts.Add("host.container", Container(root));
  const Result<std::string> name_space = ReadLink("/proc/self/ns/pid");
  facts.Add("host.pid_namespace", name_space ? OwnPidNamespace(*name_space) : ValueOf(name_space.error()),
            "/proc/self/ns/pid");
  facts.Add("host.user.root", geteuid() == 0);
}

}  // namespace gpuwhy::os
