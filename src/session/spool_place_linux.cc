// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/spool_place_linux.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"

namespace gpuwhy {
namespace {

// f_type of statfs(2), linux/magic.h and the file systems' own sources. A mapped ring there is slow or not shared at
// all.
struct FileSystem {
  uint32_t type;
  const char* name;
};
constexpr FileSystem kRemote[] = {
    {0x6969, "NFS"},       {0xFF534D42, "CIFS"}, {0xFE534D42, "SMB2"},   {0x517B, "SMB"},      {0x65735546, "FUSE"},
    {0x01021997, "9P"},    {0x00C36400, "Ceph"}, {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"}, {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},   {0x73757245, "Coda"}, {0x7461636F, "OCFS2"},  {0x01161970, "GFS2"}, {0x19830326, "BeeGFS"},
    {0xAAD7AAEA, "PanFS"}, {0x564C, "NCP"},      {0x786F4256, "vboxsf"},
};

std::string RealPath(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return "";
  std::string result = real;
  free(real);
  return result;
}

std::string OwnerRefusal(const struct stat& info) {
  if (info.st_uid != geteuid() && info.st_uid != 0) return Format("belongs to user {}", info.st_uid);
  const bool others_write = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (others_write && (info.st_mode & S_ISVTX) == 0) return "others may rename what lies in it (no sticky bit)";
  return "";
}

std::string RoomRefusal(const std::string& place, uint64_t bytes) {
  struct statvfs room {};
  if (statvfs(place.c_str(), &room) != 0) return std::strerror(errno);
  if ((room.f_flag & ST_RDONLY) != 0) return "is read-only";
  const uint64_t free_bytes = uint64_t{room.f_bavail} * room.f_frsize;
  if (free_bytes < bytes) return Format("has {} MB free, {} MB are needed", free_bytes >> 20, (bytes >> 20) + 1);
  return "";
}

// True when the process was started with this folder as its spool or with the library that lies in it.
bool WasGiven(const std::string& process, const std::string& folder) {
  const Result<std::string> text = ReadFile("/proc/" + process + "/environ", size_t{1} << 22);
  if (!text) return false;
  const std::string spool = "GPUWHY_SPOOL=" + folder, library = "CUDA_INJECTION64_PATH=" + folder + "/";
  for (std::string_view entry : Split(*text, '\0')) {
    if (entry == spool || entry.substr(0, library.size()) == library) return true;
  }
  return false;
}

}  // namespace

std::string SpoolPlaceRefusal(const std::string& place, uint64_t bytes) {
  if (place.empty() || place[0] != '/') return "is not an absolute path";
  const std::string real = RealPath(place);
  if (real.empty()) return std::strerror(errno);
  // 64 MB in containers, and the workers of data loaders fill it (design of the rings).
  if (real == "/dev/shm" || real.rfind("/dev/shm/", 0) == 0) return "is shared memory that the job needs";
  struct stat info {};
  if (stat(real.c_str(), &info) != 0) return std::strerror(errno);
  if (!S_ISDIR(info.st_mode)) return "is not a folder";
  if (access(real.c_str(), W_OK | X_OK) != 0) return std::strerror(errno);
  if (const std::string refusal = OwnerRefusal(info); !refusal.empty()) return refusal;
  struct statfs system {};
  if (statfs(real.c_str(), &system) != 0) return std::strerror(errno);
  for (const FileSystem& remote : kRemote) {
    if (static_cast<uint32_t>(system.f_type) == remote.type) return Format("lies on {}", remote.name);
  }
  return RoomRefusal(real, bytes);
}

bool MayExecuteIn(const std::string& place) {
  struct statvfs info {};
  return statvfs(place.c_str(), &info) == 0 && (info.f_flag & ST_NOEXEC) == 0;
}

bool IsPrivateFolder(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & 077) == 0;
}

std::optional<uint64_t> StartTicks(long long pid) {
  const Result<std::string> stat = ReadFile(Format("/proc/{}/stat", pid), 4096);
  if (!stat) return std::nullopt;
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<std::string_view> fields = Split(std::string_view(*stat).substr(name_end + 1), ' ');
  // fields[0] is empty, fields[1] is field 3 (state), so field 22 is fields[20].
  if (fields.size() < 21 || fields[1] == "Z" || fields[1] == "X") return std::nullopt;
  const std::optional<long long> ticks = ParseInt(fields[20]);
  return ticks ? std::optional<uint64_t>(static_cast<uint64_t>(*ticks)) : std::nullopt;
}

bool SpoolInUse(const std::string& folder) {
  if (const Result<std::vector<std::string>> names = ListFolder(folder)) {
    for (const std::string& name : *names) {  // <pid>-<start_ticks>-...
      const std::vector<std::string_view> parts = Split(name, '-');
      if (parts.size() < 3) continue;
      const std::optional<long long> pid = ParseInt(parts[0]), ticks = ParseInt(parts[1]);
      if (!pid || !ticks || *ticks < 0) continue;
      if (StartTicks(*pid) == static_cast<uint64_t>(*ticks)) return true;
    }
  }
  const Result<std::vector<std::string>> processes = ListFolder("/proc");
  if (!processes) return true;  // nobody can be seen: do not take away what may be in use
  for (const std::string& process : *processes) {
    struct stat info {};
    if (process[0] < '0' || process[0] > '9' || stat(("/proc/" + process).c_str(), &info) != 0) continue;
    // Files of a process that may not be dumped belong to root.
    if ((info.st_uid == geteuid() || geteuid() == 0) && WasGiven(process, folder)) return true;
  }
  return false;
}

}  // namespace gpuwhy
