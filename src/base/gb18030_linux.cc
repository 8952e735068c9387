// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <iconv.h>

#include <cerrno>

#include "base/gb18030.h"

namespace gpuwhy {

std::optional<std::string> FromGb18030(std::string_view bytes) {
  const iconv_t table = iconv_open("UTF-8", "GB18030");
  if (table == reinterpret_cast<iconv_t>(-1)) return std::nullopt;
  std::string in(bytes);  // iconv(3) takes a pointer to what it does not change
  std::string out;
  char* from = in.data();
  size_t left = in.size();
  bool sound = true;
  while (left > 0 && sound) {
    char buffer[4096];
    char* to = buffer;
    size_t room = sizeof buffer;
    sound = iconv(table, &from, &left, &to, &room) != static_cast<size_t>(-1) || errno == E2BIG;
    out.append(buffer, sizeof buffer - room);
  }
  iconv_close(table);
  return sound ? std::optional<std::string>(std::move(out)) : std::nullopt;
}

}  // namespace gpuwhy
