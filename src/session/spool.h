// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_SPOOL_H_
#define GPUWHY_SESSION_SPOOL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/embed.h"
#include "base/result.h"
#include "model/evidence.h"

namespace gpuwhy {

// Where a spool may lie, best first.
struct SpoolPlaces {
  std::vector<std::string> rings;    // local file systems for the mapped rings
  std::vector<std::string> library;  // more places for the library alone, where all of `rings` forbid to execute
  // $XDG_RUNTIME_DIR, $TMPDIR, /tmp; then $XDG_CACHE_HOME/gpuwhy (or ~/.cache/gpuwhy) for the library.
  static SpoolPlaces FromEnvironment();
};

// The private folder between a job and gpuwhy: rings, the Python agent, the library. It lives as long as a process uses
// it.
class Spool {
 public:
  // Makes gpuwhy-<uid>-<random> (0700) in the first place that is local, ours, and has room for two rings and the
  // files, and writes the embedded files there. Errors: why each place was refused; then the job runs without
  // injection.
  static Result<Spool> Create(const SpoolPlaces& places, std::span<const EmbeddedFile> agent,
                              std::span<const EmbeddedFile> inject);
  ~Spool();
  Spool(Spool&&) noexcept;
  Spool& operator=(Spool&&) noexcept;

  const std::string& folder() const;
  const std::string& agent_folder() const;  // empty when no agent was given
  const std::string& library() const;  // the first embedded *.so as a file; empty when none may be executed anywhere
  const std::vector<Gap>& gaps() const;

  // Removes the folder unless a process of the job still uses it; then it is left to the next gpuwhy. True if removed.
  bool RemoveIfUnused();

 private:
  struct State;
  explicit Spool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A spool that nobody owns any more. While the object lives no other gpuwhy takes it.
class OrphanedSpool {
 public:
  OrphanedSpool(std::string folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  ~OrphanedSpool();
  OrphanedSpool(OrphanedSpool&& other) noexcept : folder_(std::move(other.folder_)), lock_(other.lock_) {
    other.lock_ = -1;
  }
  OrphanedSpool& operator=(OrphanedSpool&&) = delete;

  const std::string& folder() const { return folder_; }
  bool has_rings() const;
  void Remove();  // after its rings were read

 private:
  std::string folder_;
  int lock_ = -1;
};

// Spools of this user in `places` whose gpuwhy is gone and that no process uses.
std::vector<OrphanedSpool> CollectOrphans(const SpoolPlaces& places);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_SPOOL_H_
