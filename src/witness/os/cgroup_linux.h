// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_CGROUP_LINUX_H_
#define GPUWHY_WITNESS_OS_CGROUP_LINUX_H_

#include <string>
#include <string_view>

#include "base/host_root.h"
#include "model/value.h"

namespace gpuwhy::os {

// CPU limit in cores (double) of the cgroup described by `membership`, the text of /proc/PID/cgroup: the smallest limit
// on the way up to the mount. Both hierarchies: cpu.max (v2) and cpu.cfs_quota_us (v1). No limit: kNotFound.
Value CgroupCpuLimit(const HostRoot& root, std::string_view membership);

// Memory limit in bytes (int): memory.max (v2), memory.limit_in_bytes (v1). No limit: kNotFound.
Value CgroupMemoryLimit(const HostRoot& root, std::string_view membership);

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_CGROUP_LINUX_H_
