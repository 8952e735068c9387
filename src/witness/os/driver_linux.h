// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_DRIVER_LINUX_H_
#define GPUWHY_WITNESS_OS_DRIVER_LINUX_H_

#include <optional>
#include <string>
#include <string_view>

namespace gpuwhy::os {

// Driver version in the text of /proc/driver/nvidia/version. Two formats: "NVRM version: NVIDIA UNIX x86_64 Kernel
// Module 580.159.04  Tue ..." and "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build
// ...".
std::optional<std::string> DriverVersion(std::string_view text);

// True for a file name in modules.dep that is NVIDIA's main module, in the names of NVIDIA and of Debian:
// "nvidia.ko.zst", "nvidia-current.ko", "nvidia-tesla-470.ko"; false for its parts ("nvidia-uvm.ko") and for others
// ("nvidiafb.ko").
bool IsDriverModule(std::string_view file);

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_DRIVER_LINUX_H_
