// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_HOST_ROOT_H_
#define GPUWHY_BASE_HOST_ROOT_H_

#include <string>
#include <string_view>

namespace gpuwhy {

// Where the machine-wide files stand (/proc/driver, /sys, /dev, /etc, /usr): "" on a real machine, a folder in tests.
// Files of a live process (/proc/PID) are never redirected.
class HostRoot {
 public:
  HostRoot() = default;
  explicit HostRoot(std::string prefix) : prefix_(std::move(prefix)) {}
  // From the environment variable GPUWHY_ROOT.
  static HostRoot FromEnvironment();

  std::string Path(std::string_view absolute) const { return prefix_ + std::string(absolute); }
  bool is_fake() const { return !prefix_.empty(); }

 private:
  std::string prefix_;
};

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_HOST_ROOT_H_
