// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_CLEAN_PREFIX_H_
#define GPUWHY_READER_CLEAN_PREFIX_H_

#include <vector>

#include "reader/reader.h"

namespace gpuwhy {

// Takes off what a log collector or a page put before every line: the service of docker compose ("trainer-1  | "), time
// stamps of CI and kubectl ("2024-05-01T10:00:00.123Z "), "[10:00:00] ", heads of the journal ("May 01 10:00:00 box
// python[123]: "), and the four blanks of a Markdown block. Only where it repeats over several lines in a row: a line's
// own beginning (TensorFlow's time, nvidia-smi's indentation) stays.
void StripPrefixes(std::vector<TextLine>& lines);

}  // namespace gpuwhy

#endif  // GPUWHY_READER_CLEAN_PREFIX_H_
