// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_LAYOUT_H_
#define GPUWHY_REPORT_LAYOUT_H_

#include <string>
#include <string_view>
#include <vector>

namespace gpuwhy::report {

// Columns that `text` takes on a terminal: Chinese, Japanese and Korean characters take two, combining marks none.
int DisplayWidth(std::string_view text);

// Text from a job (names, paths, messages) made harmless for a terminal: control characters, which could move the
// cursor or change colours, become "?"; bytes that are no UTF-8 become U+FFFD; line ends and tabs become blanks.
std::string Printable(std::string_view text);

// Lines of at most `width` columns. Breaks at blanks and beside Chinese characters, never before closing punctuation; a
// word longer than a line (a path, a command) stays whole, so that it can be copied.
std::vector<std::string> Wrap(std::string_view text, int width);

// `text` and blanks up to `width` columns.
std::string Pad(std::string_view text, int width);

// A bar of `cells` cells filled to `ratio` (0..1), with eighths of a cell.
std::string Bar(double ratio, int cells);

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_LAYOUT_H_
