// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_ENVIRONMENT_H_
#define GPUWHY_BASE_ENVIRONMENT_H_

#include <optional>
#include <string>

namespace gpuwhy {

// Value of an environment variable of gpuwhy itself; nothing when it is not set.
std::optional<std::string> Environment(const char* name);

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_ENVIRONMENT_H_
