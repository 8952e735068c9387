// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_LOCALE_H_
#define GPUWHY_REPORT_LOCALE_H_

#include <span>
#include <string_view>

namespace gpuwhy::report {

// One text in every language of the program. {{name}} stands for a parameter; both languages have the same ones.
struct LocaleEntry {
  std::string_view key, en, zh;
};

// Sorted by key; generated from locale/*.json by tools/gen_locale.py.
std::span<const LocaleEntry> LocaleEntries();

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_LOCALE_H_
