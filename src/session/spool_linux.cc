// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/environment.h"
#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "session/spool.h"
#include "session/spool_place_linux.h"

namespace gpuwhy {
namespace {

constexpr uint64_t kRingBytes =
    4096 + uint64_t{131072} * 64;  // header_size + default_capacity * record_size of the wire
constexpr uint64_t kRings = 2;
constexpr uint64_t kSpareBytes = 1 << 20;
constexpr int64_t kUnfinishedLifeS = 3600;  // a folder without an owner file is being made, or its maker was killed
constexpr const char* kOwnerFile = "owner";

std::string NamePrefix() { return Format("gpuwhy-{}-", geteuid()); }

uint64_t SizeOf(std::span<const EmbeddedFile> files) {
  uint64_t bytes = 0;
  for (const EmbeddedFile& file : files) bytes += file.data.size() + 4096;
  return bytes;
}

std::string FirstLine(const char* path) {
  const Result<std::string> text = ReadFile(path, 4096);
  return text ? std::string(Trim(*text)) : "";
}

// pid and start ticks of gpuwhy for people; the boot for folders that outlived it. The lock decides who lives.
std::string OwnerText() {
  return Format("{} {}\n{}\n", getpid(), StartTicks(getpid()).value_or(0),
                FirstLine("/proc/sys/kernel/random/boot_id"));
}

void RemoveTree(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);  // follows no links
}

// A folder of ours with a locked owner file.
struct PrivateFolder {
  std::string path;
  int lock = -1;
};

Result<PrivateFolder> MakePrivateFolder(const std::string& place) {
  std::string path = Format("{}/{}XXXXXX", place, NamePrefix());
  if (mkdtemp(path.data()) == nullptr) return ErrnoError("cannot create a folder in " + place, errno);
  // The umask may have taken bits away; the check is against another user who got there first.
  if (chmod(path.c_str(), 0700) != 0 || !IsPrivateFolder(path)) {
    return Error{ErrorCode::kPermission, path + " is not private", ""};
  }
  const std::string owner = path + "/" + kOwnerFile;
  const int lock = open(owner.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  const std::string text = OwnerText();
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0 ||
      write(lock, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    const int error_number = errno;
    if (lock >= 0) close(lock);
    RemoveTree(path);
    return ErrnoError("cannot write " + owner, error_number);
  }
  return PrivateFolder{path, lock};
}

// Paths of embedded files come from the build; one that leaves the folder would be our own mistake.
Result<void> Extract(std::span<const EmbeddedFile> files, const std::string& folder, unsigned mode) {
  for (const EmbeddedFile& file : files) {
    const std::string path = Format("{}/{}", folder, file.path);
    if (const Result<void> made = MakeFolders(path.substr(0, path.rfind('/'))); !made) return made;
    if (const Result<void> written = WriteFile(path, file.data, mode); !written) return written;
    if (chmod(path.c_str(), mode) != 0) return ErrnoError("cannot set the mode of " + path, errno);
  }
  return {};
}

std::string LibraryName(std::span<const EmbeddedFile> files) {
  for (const EmbeddedFile& file : files) {
    if (file.path.size() > 3 && file.path.substr(file.path.size() - 3) == ".so") return std::string(file.path);
  }
  return "";
}

// posix_fallocate beyond RLIMIT_FSIZE raises SIGXFSZ, which would end the job: setrlimit(2).
std::optional<Error> FileSizeLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kRingBytes)
    return std::nullopt;
  return Error{ErrorCode::kUnsupported,
               Format("the file size limit of {} bytes is below the {} bytes of a ring", limit.rlim_cur, kRingBytes),
               "raise it: ulimit -f unlimited"};
}

}  // namespace

SpoolPlaces SpoolPlaces::FromEnvironment() {
  SpoolPlaces places;
  for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const std::optional<std::string> value = Environment(name);
    if (value && !value->empty()) places.rings.push_back(*value);
  }
  places.rings.emplace_back("/tmp");
  const std::optional<std::string> cache = Environment("XDG_CACHE_HOME"), home = Environment("HOME");
  if (cache && !cache->empty()) {
    places.library.push_back(*cache + "/gpuwhy");
  } else if (home && !home->empty()) {
    places.library.push_back(*home + "/.cache/gpuwhy");
  }
  return places;
}

struct Spool::State {
  PrivateFolder folder;
  PrivateFolder library_folder;  // only where the first forbids to execute
  std::string agent_folder;
  std::string library;
  std::vector<Gap> gaps;

  ~State() {
    if (folder.lock >= 0) close(folder.lock);
    if (library_folder.lock >= 0) close(library_folder.lock);
  }
  Result<void> PutLibrary(const SpoolPlaces& places, std::span<const EmbeddedFile> inject);
};

Spool::Spool(std::unique_ptr<State> state) : state_(std::move(state)) {}
Spool::~Spool() = default;
Spool::Spool(Spool&&) noexcept = default;
Spool& Spool::operator=(Spool&&) noexcept = default;

Result<void> Spool::State::PutLibrary(const SpoolPlaces& places, std::span<const EmbeddedFile> inject) {
  const std::string name = LibraryName(inject);
  if (name.empty()) return {};
  std::string target = folder.path;
  if (!MayExecuteIn(target)) {
    target.clear();
    std::vector<std::string> others = places.rings;
    others.insert(others.end(), places.library.begin(), places.library.end());
    for (const std::string& place : others) {
      const bool is_cache = &place - others.data() >= static_cast<ptrdiff_t>(places.rings.size());
      if (is_cache && !MakeFolders(place)) continue;
      if (!SpoolPlaceRefusal(place, SizeOf(inject)).empty() || !MayExecuteIn(place)) continue;
      Result<PrivateFolder> made = MakePrivateFolder(place);
      if (!made) continue;
      library_folder = *made;
      target = library_folder.path;
      break;
    }
  }
  if (target.empty()) {
    gaps.push_back({"kernels and copies of the job (CUPTI)", folder.path + " and all other places are mounted noexec",
                    "set XDG_CACHE_HOME to a folder that allows execution"});
    return {};
  }
  if (const Result<void> done = Extract(inject, target + "/lib", 0700); !done) return done;
  library = target + "/lib/" + name;
  return {};
}

Result<Spool> Spool::Create(const SpoolPlaces& places, std::span<const EmbeddedFile> agent,
                            std::span<const EmbeddedFile> inject) {
  if (std::optional<Error> limit = FileSizeLimit()) return *limit;
  const uint64_t bytes = kRings * kRingBytes + SizeOf(agent) + SizeOf(inject) + kSpareBytes;
  std::string refusals;
  for (const std::string& place : places.rings) {
    std::string refusal = SpoolPlaceRefusal(place, bytes);
    if (refusal.empty()) {
      auto state = std::make_unique<State>();
      Result<PrivateFolder> made = MakePrivateFolder(place);
      Result<void> filled = made ? Result<void>() : Result<void>(made.error());
      if (made) {
        state->folder = *made;
        if (!agent.empty()) state->agent_folder = made->path + "/agent";
        filled = Extract(agent, made->path + "/agent", 0600);
        if (filled) filled = state->PutLibrary(places, inject);
      }
      if (filled) return Spool(std::move(state));
      refusal = filled.error().message;
      if (!state->folder.path.empty()) RemoveTree(state->folder.path);
      if (!state->library_folder.path.empty()) RemoveTree(state->library_folder.path);
    }
    refusals += Format("{}{} {}", refusals.empty() ? "" : ", ", place, refusal);
  }
  return Error{ErrorCode::kIo, "no folder for the exchange with the job: " + refusals,
               "set TMPDIR to a local folder of yours with 20 MB free"};
}

const std::string& Spool::folder() const { return state_->folder.path; }
const std::string& Spool::agent_folder() const { return state_->agent_folder; }
const std::string& Spool::library() const { return state_->library; }
const std::vector<Gap>& Spool::gaps() const { return state_->gaps; }

bool Spool::RemoveIfUnused() {
  if (SpoolInUse(state_->folder.path)) return false;
  RemoveTree(state_->folder.path);
  if (!state_->library_folder.path.empty()) RemoveTree(state_->library_folder.path);
  return true;
}

OrphanedSpool::~OrphanedSpool() {
  if (lock_ >= 0) close(lock_);
}

bool OrphanedSpool::has_rings() const {
  const Result<std::vector<std::string>> names = ListFolder(folder_);
  if (!names) return false;
  for (const std::string& name : *names) {
    if (name.size() > 5 && name.compare(name.size() - 5, 5, ".ring") == 0) return true;
  }
  return false;
}

void OrphanedSpool::Remove() { RemoveTree(folder_); }

std::vector<OrphanedSpool> CollectOrphans(const SpoolPlaces& places) {
  std::vector<OrphanedSpool> orphans;
  std::vector<std::string> all = places.rings;
  all.insert(all.end(), places.library.begin(), places.library.end());
  const std::string prefix = NamePrefix();
  for (const std::string& place : all) {
    const Result<std::vector<std::string>> names = ListFolder(place);
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
      const std::string folder = place + "/" + name;
      if (name.compare(0, prefix.size(), prefix) != 0 || !IsPrivateFolder(folder)) continue;
      const int lock = open((folder + "/" + kOwnerFile).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
      struct stat info {};
      const bool unfinished =
          lock < 0 && stat(folder.c_str(), &info) == 0 && time(nullptr) - info.st_mtime > kUnfinishedLifeS;
      const bool unowned = lock >= 0 ? flock(lock, LOCK_EX | LOCK_NB) == 0 : unfinished;
      if (unowned && !SpoolInUse(folder)) {
        orphans.emplace_back(folder, lock);
      } else if (lock >= 0) {
        close(lock);
      }
    }
  }
  return orphans;
}

}  // namespace gpuwhy
