// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <pwd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/format.h"
#include "model/metric.h"
#include "session/mask.h"
#include "session/session_file.h"
#include "session/share.h"

namespace gpuwhy {
namespace {

void Push(const Evidence& evidence, EvidenceSink& sink) {
  for (const Fact* fact : evidence.WithPrefix("")) sink.Add(*fact);
  for (const Metric& metric : Metrics()) {
    for (const Entity& entity : evidence.EntitiesWith(metric.name)) {
      for (const Point& point : evidence.Samples(metric.name, entity))
        sink.Add(Sample{std::string(metric.name), entity, point.time_s, point.value});
    }
  }
  for (const Gap& gap : evidence.gaps()) sink.Add(gap);
}

}  // namespace

Result<std::string> SessionText(const Evidence& evidence) {
  // A file in memory: the writer of sessions stays the only one that knows their format.
  const int fd = memfd_create("gpuwhy-session", MFD_CLOEXEC);
  if (fd < 0) return ErrnoError("cannot make a file in memory", errno);
  const std::string path = Format("/proc/self/fd/{}", fd);
  Result<void> done;
  {
    Result<std::unique_ptr<SessionWriter>> writer = SessionWriter::Create(path, WallNs(), 0);
    if (writer) {
      Push(evidence, **writer);
      done = (*writer)->Flush();
    } else {
      done = writer.error();
    }
  }
  Result<std::string> text = done ? ReadFile(path) : Result<std::string>(done.error());
  close(fd);
  return text;
}

Identity Identity::OfThisProcess() {
  Identity identity;
  const auto add_user = [&](const std::string& name) {
    // "root" names nobody, and the word stands in many a message.
    if (!name.empty() && name != "root") identity.users.push_back(name);
  };
  for (const char* variable : {"USER", "LOGNAME", "USERNAME", "SUDO_USER"})
    add_user(Environment(variable).value_or(""));
  identity.homes.push_back(Environment("HOME").value_or(""));
  if (const passwd* entry = getpwuid(geteuid()); entry != nullptr) {
    add_user(entry->pw_name);
    identity.homes.emplace_back(entry->pw_dir);
  }
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) == 0) identity.hosts.emplace_back(name);
  identity.hosts.push_back(Environment("HOSTNAME").value_or(""));
  for (size_t i = 0, count = identity.hosts.size(); i < count; ++i) {
    const std::string brief = identity.hosts[i].substr(0, identity.hosts[i].find('.'));
    if (brief != identity.hosts[i]) identity.hosts.push_back(brief);
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH", "PWD"})
    identity.paths.push_back(Environment(variable).value_or(""));
  return identity;
}

}  // namespace gpuwhy
