// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_INPUT_H_
#define GPUWHY_SESSION_INPUT_H_

#include <string>

#include "base/result.h"

namespace gpuwhy {

// What stands in a file that a user named.
struct Input {
  std::string text;
  std::string name;  // for messages: the path, or "standard input"
};

// Whole content of a file of less than 1 GiB. "-" is standard input, "last" the newest session of this user, "last~1"
// the one before it. Errors name the path: kNotFound, kPermission, kIo, kUnsupported (too large).
Result<Input> ReadInput(const std::string& path);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_INPUT_H_
