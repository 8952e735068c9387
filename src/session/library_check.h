// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_LIBRARY_CHECK_H_
#define GPUWHY_SESSION_LIBRARY_CHECK_H_

#include <set>

#include "base/host_root.h"
#include "model/evidence.h"

namespace gpuwhy {

// Are the CUDA libraries that a framework of the job was built for really there? Two witnesses know one half each: the
// framework which versions and where Python looks, the system which files exist.
class LibraryCheck {
 public:
  // Once for each process, as soon as its framework has told. Cheap when there is nothing new.
  void Look(EvidenceSink& sink, const Evidence& evidence, double time_s);

 private:
  HostRoot root_ = HostRoot::FromEnvironment();
  std::set<int64_t> done_;
};

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_LIBRARY_CHECK_H_
