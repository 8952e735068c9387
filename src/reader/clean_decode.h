// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_CLEAN_DECODE_H_
#define GPUWHY_READER_CLEAN_DECODE_H_

#include <string>
#include <string_view>

namespace gpuwhy {

// UTF-8 of any of UTF-8, UTF-16 (either order, with or without a mark) and GBK (line by line, see clean_gbk.h). Byte
// order marks, zero-width characters and ANSI escape sequences go; blanks of other kinds become blanks, drawn lines
// become '|' and '-'. What is no UTF-8 becomes U+FFFD.
std::string DecodeText(std::string_view bytes);

// Length of the UTF-8 character at `at`, 0 where there is none.
size_t Utf8Length(std::string_view text, size_t at);

// UTF-16 with a mark or without: mostly ASCII (a zero in every second byte), or Chinese (each unit is ASCII, a mark of
// punctuation or an ideograph, and ASCII is there too).
bool LooksWide(std::string_view bytes);

// Entities of HTML and tags that only lay out (<br/>, <pre>, <code> ...); a text without them comes back unchanged.
// A <br> inside a line becomes '\v', which CleanText splits at without counting a line.
std::string StripHtml(const std::string& text);

}  // namespace gpuwhy

#endif  // GPUWHY_READER_CLEAN_DECODE_H_
