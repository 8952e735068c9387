// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_EMBED_H_
#define GPUWHY_BASE_EMBED_H_

#include <span>
#include <string_view>

namespace gpuwhy {

// A file carried inside the program; `path` is relative to the folder it was embedded from.
struct EmbeddedFile {
  std::string_view path;
  std::string_view data;
};

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_EMBED_H_
