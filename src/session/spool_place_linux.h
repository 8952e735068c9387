// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_SPOOL_PLACE_LINUX_H_
#define GPUWHY_SESSION_SPOOL_PLACE_LINUX_H_

#include <cstdint>
#include <optional>
#include <string>

namespace gpuwhy {

// Why a folder cannot hold a spool that needs `bytes`; empty when it can.
std::string SpoolPlaceRefusal(const std::string& place, uint64_t bytes);

// False on a file system mounted noexec.
bool MayExecuteIn(const std::string& place);

// True for a folder (not a link) that belongs to this user and that nobody else may enter.
bool IsPrivateFolder(const std::string& path);

// Field 22 of /proc/PID/stat (proc(5)); nothing for a process that is gone or a zombie.
std::optional<uint64_t> StartTicks(long long pid);

// True while a process that owns a ring in the folder lives, or one of this user was started with GPUWHY_SPOOL=folder.
bool SpoolInUse(const std::string& folder);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_SPOOL_PLACE_LINUX_H_
