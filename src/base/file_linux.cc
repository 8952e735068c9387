// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/format.h"

namespace gpuwhy {

Error ErrnoError(const std::string& what, int error_number) {
  ErrorCode code = ErrorCode::kIo;
  if (error_number == ENOENT || error_number == ENOTDIR || error_number == ESRCH) code = ErrorCode::kNotFound;
  if (error_number == EACCES || error_number == EPERM) code = ErrorCode::kPermission;
  return {code, Format("{}: {}", what, std::strerror(error_number)), ""};
}

Result<std::string> ReadFile(const std::string& path, size_t limit) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoError("cannot read " + path, errno);
  std::string out;
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
    out.reserve(std::min(static_cast<size_t>(info.st_size), limit));  // a sparse file may claim any size
  char buffer[1 << 16];
  ssize_t got = 0;
  while (out.size() < limit && ((got = read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))) {
    if (got > 0) out.append(buffer, std::min(static_cast<size_t>(got), limit - out.size()));
  }
  const int error_number = errno;
  close(fd);
  if (got < 0) return ErrnoError("cannot read " + path, error_number);
  return out;
}

Result<void> WriteFile(const std::string& path, std::string_view data, unsigned mode) {
  struct stat info {};
  // A pipe, terminal or /dev/null cannot be replaced: write into it.
  const bool replace = stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
  const std::string target = replace ? Format("{}.{}.tmp", path, getpid()) : path;
  const int flags = O_WRONLY | O_CLOEXEC | (replace ? O_CREAT | O_TRUNC : 0);
  const int fd = open(target.c_str(), flags, mode);
  if (fd < 0) return ErrnoError("cannot write " + path, errno);
  size_t done = 0;
  int error_number = 0;
  while (done < data.size() && error_number == 0) {
    const ssize_t put = write(fd, data.data() + done, data.size() - done);
    if (put > 0) done += static_cast<size_t>(put);
    if (put < 0 && errno != EINTR) error_number = errno;
  }
  if (close(fd) != 0 && error_number == 0) error_number = errno;
  if (error_number == 0 && replace && rename(target.c_str(), path.c_str()) != 0) error_number = errno;
  if (error_number == 0) return {};
  if (replace) unlink(target.c_str());
  return ErrnoError("cannot write " + path, error_number);
}

Result<std::vector<std::string>> ListFolder(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return ErrnoError("cannot list " + path, errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

bool FileExists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

Result<void> MakeFolders(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      if (!FileExists(part)) return ErrnoError("cannot create " + part, errno);
    }
    if (slash == std::string::npos) return {};
  }
}

Result<std::string> ReadLink(const std::string& path) {
  char buffer[4096];
  const ssize_t got = readlink(path.c_str(), buffer, sizeof buffer);
  if (got < 0) return ErrnoError("cannot read link " + path, errno);
  return std::string(buffer, static_cast<size_t>(got));
}

}  // namespace gpuwhy
