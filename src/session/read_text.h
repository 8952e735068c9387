// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_READ_TEXT_H_
#define GPUWHY_SESSION_READ_TEXT_H_

#include <string_view>

#include "base/result.h"
#include "model/evidence.h"

namespace gpuwhy {

// Evidence of a pasted text: every reader over every line, and a gap for the lines that none of them understood.
// kUnsupported for an empty text and for binary data; `name` stands for the text in the message.
Result<Evidence> ReadText(std::string_view bytes, const std::string& name);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_READ_TEXT_H_
