// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_UNIT_READER_TEST_RUN_H_
#define GPUWHY_TESTS_UNIT_READER_TEST_RUN_H_

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "reader/reader.h"

namespace gpuwhy {

// The reader of that folder; a wrong name is a fault of the test.
inline const ReaderInfo& ReaderOf(std::string_view name) {
  for (const ReaderInfo* reader : AllReaders()) {
    if (reader->name == name) return *reader;
  }
  std::cerr << "no reader is named " << name << "\n";
  std::abort();
}

// What one reader alone finds in a text.
inline Evidence ReadWith(std::string_view reader, std::string_view bytes) {
  PastedText text = CleanText(bytes);
  Evidence evidence;
  ReaderOf(reader).read(text, evidence);
  return evidence;
}

}  // namespace gpuwhy

#endif  // GPUWHY_TESTS_UNIT_READER_TEST_RUN_H_
