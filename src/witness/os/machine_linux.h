// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_MACHINE_LINUX_H_
#define GPUWHY_WITNESS_OS_MACHINE_LINUX_H_

#include <optional>
#include <string_view>

#include "model/value.h"

namespace gpuwhy::os {

// Number of CPUs in a kernel list such as "0-3,8": nothing when it is malformed.
std::optional<int64_t> CountCpuList(std::string_view list);

// Whether a link of /proc/PID/ns/pid ("pid:[4026531836]") names another PID namespace than the machine's first one.
Value OwnPidNamespace(std::string_view link);

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_MACHINE_LINUX_H_
