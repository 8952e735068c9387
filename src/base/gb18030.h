// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_GB18030_H_
#define GPUWHY_BASE_GB18030_H_

#include <optional>
#include <string>
#include <string_view>

namespace gpuwhy {

// UTF-8 of text in GB18030 (which holds GBK and GB 2312), by the system's own tables. Nothing where a byte does not fit
// or the system has no such table (a minimal container).
std::optional<std::string> FromGb18030(std::string_view bytes);

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_GB18030_H_
