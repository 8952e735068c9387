// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_COMMAND_LINUX_H_
#define GPUWHY_WITNESS_OS_COMMAND_LINUX_H_

#include <string>
#include <vector>

#include "base/result.h"

namespace gpuwhy::os {

struct CommandOutput {
  int status = 0;      // exit status, 128 + signal when a signal ended it
  std::string output;  // stdout, at most 1 MiB
  std::string errors;  // stderr, at most 64 KiB
};

// Runs a program (absolute path) with no input, in a process group of its own that is killed when `limit_s` is over.
// `environment` entries ("NAME=value") are added to ours; "NAME" alone removes one. Errors: kNotFound or kPermission
// when it cannot be started, kTimeout.
Result<CommandOutput> RunCommand(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                                 double limit_s);

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_COMMAND_LINUX_H_
