// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/cgroup_linux.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace gpuwhy::os {
namespace {

struct Place {
  std::string mount;  // below the root folder
  std::string path;   // of the process inside the hierarchy
};

// Where the files of one v1 controller, or of the unified hierarchy (controller ""), may stand. A container without its
// own cgroup namespace sees the host's path in the membership but only its own folder at the mount: walking up from the
// path ends at the mount, so that both cases are found.
std::vector<Place> Places(std::string_view membership, std::string_view controller) {
  std::vector<Place> places;
  for (const std::string_view line : Lines(membership)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controller.empty()) {
      if (!names.empty()) continue;
      places.push_back({"/sys/fs/cgroup", path});
      places.push_back({"/sys/fs/cgroup/unified", path});
      continue;
    }
    const std::vector<std::string_view> parts = Split(names, ',');
    if (std::find(parts.begin(), parts.end(), controller) == parts.end()) continue;
    places.push_back({"/sys/fs/cgroup/" + std::string(names), path});
    if (names != controller) places.push_back({"/sys/fs/cgroup/" + std::string(controller), path});
  }
  return places;
}

using Reader = std::function<std::optional<double>(const std::string& folder)>;

// The smallest limit of a cgroup and of all that it lies in.
std::optional<double> Smallest(const HostRoot& root, const std::vector<Place>& places, const Reader& read, bool* seen) {
  std::optional<double> smallest;
  for (const Place& place : places) {
    if (!FileExists(root.Path(place.mount))) continue;
    *seen = true;
    std::string path = place.path == "/" ? "" : place.path;
    while (true) {
      const std::optional<double> limit = read(root.Path(place.mount) + path);
      if (limit && (!smallest || *limit < *smallest)) smallest = limit;
      if (path.empty()) break;
      const size_t slash = path.rfind('/');
      path.resize(slash == std::string::npos ? 0 : slash);
    }
  }
  return smallest;
}

std::optional<double> Number(const std::string& path) {
  const Result<std::string> text = ReadFile(path, 256);
  return text ? ParseDouble(Trim(*text)) : std::nullopt;
}

std::optional<double> CpuV2(const std::string& folder) {
  const Result<std::string> text = ReadFile(folder + "/cpu.max", 256);
  if (!text) return std::nullopt;
  const std::vector<std::string_view> parts = Split(Trim(*text), ' ');
  if (parts.size() != 2) return std::nullopt;
  const std::optional<double> quota = ParseDouble(parts[0]);  // the word "max" is no number
  const std::optional<double> period = ParseDouble(parts[1]);
  return quota && period && *period > 0 ? std::optional<double>(*quota / *period) : std::nullopt;
}

std::optional<double> CpuV1(const std::string& folder) {
  const std::optional<double> quota = Number(folder + "/cpu.cfs_quota_us");
  const std::optional<double> period = Number(folder + "/cpu.cfs_period_us");
  return quota && period && *quota > 0 && *period > 0 ? std::optional<double>(*quota / *period) : std::nullopt;
}

std::optional<double> MemoryV1(const std::string& folder) {
  const std::optional<double> limit = Number(folder + "/memory.limit_in_bytes");
  // The kernel shows "none" as LONG_MAX rounded down to a page.
  return limit && *limit < 9.2e18 ? limit : std::nullopt;
}

struct Limit {
  std::optional<double> value;
  bool seen = false;
};

Limit Find(const HostRoot& root, std::string_view membership, std::string_view controller, const Reader& v2,
           const Reader& v1) {
  Limit limit;
  limit.value = Smallest(root, Places(membership, ""), v2, &limit.seen);
  const std::optional<double> old = Smallest(root, Places(membership, controller), v1, &limit.seen);
  if (old && (!limit.value || *old < *limit.value)) limit.value = old;
  return limit;
}

Value None(const Limit& limit) {
  return Value::Missing(State::kNotFound,
                        limit.seen ? "no limit is set" : "no cgroup file system is mounted at /sys/fs/cgroup");
}

}  // namespace

Value CgroupCpuLimit(const HostRoot& root, std::string_view membership) {
  const Limit limit = Find(root, membership, "cpu", CpuV2, CpuV1);
  return limit.value ? Value::Of(*limit.value) : None(limit);
}

Value CgroupMemoryLimit(const HostRoot& root, std::string_view membership) {
  const Reader v2 = [](const std::string& folder) { return Number(folder + "/memory.max"); };
  const Limit limit = Find(root, membership, "memory", v2, MemoryV1);
  return limit.value ? Value::Of(static_cast<int64_t>(*limit.value)) : None(limit);
}

}  // namespace gpuwhy::os
