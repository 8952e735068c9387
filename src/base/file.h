// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_FILE_H_
#define GPUWHY_BASE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuwhy {

// Whole content of a file or of a /proc entry (whose size is not known before). At most `limit` bytes.
Result<std::string> ReadFile(const std::string& path, size_t limit = size_t{1} << 30);

// Replaces `path` by `data` through a temporary file beside it, so that a full disk leaves the old content.
Result<void> WriteFile(const std::string& path, std::string_view data, unsigned mode = 0644);

// Names in a folder, sorted, without "." and "..".
Result<std::vector<std::string>> ListFolder(const std::string& path);

bool FileExists(const std::string& path);

// Creates a folder and its parents (0700 for new ones).
Result<void> MakeFolders(const std::string& path);

// Target of a symbolic link, or kNotFound / kPermission.
Result<std::string> ReadLink(const std::string& path);

// "what: why" from errno, with the code that fits it.
Error ErrnoError(const std::string& what, int error_number);

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_FILE_H_
