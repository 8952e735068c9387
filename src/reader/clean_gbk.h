// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_CLEAN_GBK_H_
#define GPUWHY_READER_CLEAN_GBK_H_

#include <optional>
#include <string>
#include <string_view>

namespace gpuwhy {

// Lines in the encoding of Chinese Windows (GBK), among them lines in UTF-8 (Python's, say).
struct GbkText {
  std::string text;  // UTF-8
  size_t lines = 0;  // that were GBK
};

// Are the bytes that are no UTF-8 Chinese in GBK? They have to be pairs of GB 2312, whatever they mean.
bool LooksLikeGbk(std::string_view bytes);

// The text with its GBK lines in UTF-8; nothing where no line is, where the outcome is not plausible as Chinese (words
// of another encoding give rare characters) or where the system cannot decode it.
std::optional<GbkText> DecodeGbk(std::string_view bytes);

}  // namespace gpuwhy

#endif  // GPUWHY_READER_CLEAN_GBK_H_
