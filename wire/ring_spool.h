// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WIRE_RING_SPOOL_H_
#define GPUWHY_WIRE_RING_SPOOL_H_

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "wire/ring_reader.h"

namespace gpuwhy::wire {

// Text of a small /proc file; empty when the process is gone or not ours to read.
inline std::string ReadProc(int64_t pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  char buffer[8192];
  const ssize_t size = read(fd, buffer, sizeof buffer);
  close(fd);
  return size > 0 ? std::string(buffer, static_cast<size_t>(size)) : "";
}

// Field 22 of /proc/PID/stat (proc(5)); 0 when there is no such process, or it is a zombie, which writes no more.
inline uint64_t StartTicks(int64_t pid) {
  const std::string stat = ReadProc(pid, "stat");
  const size_t name_end = stat.rfind(')');  // the command in parentheses may hold anything
  if (name_end == std::string::npos || stat.size() < name_end + 3) return 0;
  const char state = stat[name_end + 2];
  if (state == 'Z' || state == 'X') return 0;
  const char* at = stat.c_str() + name_end + 2;
  for (int field = 3; field < 22 && at != nullptr; ++field) {
    at = strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  return at == nullptr ? 0 : strtoull(at, nullptr, 10);
}

// PID in its innermost namespace: the last number of NSpid in /proc/PID/status (proc(5), Linux 4.1); 0 = not known.
inline uint32_t InnerPid(int64_t pid) {
  const std::string status = ReadProc(pid, "status");
  const size_t line = status.find("\nNSpid:");
  if (line == std::string::npos) return 0;
  const std::string numbers = status.substr(line + 7, status.find('\n', line + 1) - line - 7);
  return static_cast<uint32_t>(strtoul(numbers.c_str() + numbers.find_last_of("\t "), nullptr, 10));
}

// PID, as we see it, of the process that calls itself `inner` and started at `ticks`; 0 when none is to be seen.
inline int64_t FindProcess(uint32_t inner, uint64_t ticks) {
  if (StartTicks(inner) == ticks && ticks != 0) return inner;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr || ticks == 0) {
    if (folder != nullptr) closedir(folder);
    return 0;
  }
  int64_t found = 0;
  while (const dirent* entry = readdir(folder)) {
    const int64_t pid = strtoll(entry->d_name, nullptr, 10);
    if (pid > 0 && InnerPid(pid) == inner && StartTicks(pid) == ticks) found = pid;
    if (found != 0) break;
  }
  closedir(folder);
  return found;
}

// One ring and the process that writes it.
struct OwnedRing {
  std::string path;
  std::unique_ptr<RingReader> reader;
  int64_t pid = 0;          // as seen from here; the writer's own number when `was_seen` is false
  bool was_seen = false;    // the process was found alive: only then can it be said later that it is gone
  bool translated = false;  // it sits in another PID namespace

  // True when nothing more will be written: the writer said so, or it was alive and is not any more. A process that we
  // never saw may live where we cannot look, so it is never called gone.
  bool Finished() { return reader->closed() || (was_seen && StartTicks(pid) != reader->start_ticks()); }
};

// The rings of one kind in the spool folder of a job.
class RingSpool {
 public:
  static constexpr size_t kMaxOpen = 256;  // descriptors are limited, usually to 1024

  // `suffix` is "-py.ring" or "-cu.ring".
  RingSpool(std::string suffix, RingReader::Mode mode) : suffix_(std::move(suffix)), mode_(mode) {}

  struct Refusal {
    std::string path;
    std::string why;
  };

  // Rings that came since the last call; `open_now` says how many of the earlier ones the caller still holds. Files
  // that are no sound ring are named once in `refused`.
  std::vector<OwnedRing> Scan(const std::string& folder, size_t open_now, std::vector<Refusal>* refused) {
    std::vector<OwnedRing> out;
    for (std::string& path : NewPaths(folder)) {
      if (open_now + out.size() >= kMaxOpen) break;
      known_.insert(path);
      OwnedRing ring;
      std::string why;
      ring.reader = RingReader::Open(path, mode_, &why);
      ring.path = std::move(path);
      if (ring.reader == nullptr) {
        refused->push_back({ring.path, why});
        continue;
      }
      const int64_t pid = FindProcess(ring.reader->pid(), ring.reader->start_ticks());
      ring.was_seen = pid != 0;
      ring.pid = ring.was_seen ? pid : ring.reader->pid();
      ring.translated = ring.was_seen && pid != ring.reader->pid();
      out.push_back(std::move(ring));
    }
    return out;
  }

 private:
  std::vector<std::string> NewPaths(const std::string& folder) const {
    std::vector<std::string> out;
    DIR* const handle = folder.empty() ? nullptr : opendir(folder.c_str());
    if (handle == nullptr) return out;
    while (const dirent* entry = readdir(handle)) {
      const std::string name = entry->d_name;
      if (name.size() <= suffix_.size() || name.compare(name.size() - suffix_.size(), suffix_.size(), suffix_) != 0)
        continue;
      std::string path = folder + "/" + name;
      if (known_.count(path) == 0) out.push_back(std::move(path));
    }
    closedir(handle);
    std::sort(out.begin(), out.end());  // the folder's own order differs from file system to file system
    return out;
  }

  std::string suffix_;
  RingReader::Mode mode_;
  std::set<std::string> known_;
};

}  // namespace gpuwhy::wire

#endif  // GPUWHY_WIRE_RING_SPOOL_H_
