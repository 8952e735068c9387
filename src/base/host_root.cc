// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/host_root.h"

#include "base/environment.h"

namespace gpuwhy {

HostRoot HostRoot::FromEnvironment() { return HostRoot(Environment("GPUWHY_ROOT").value_or("")); }

}  // namespace gpuwhy
