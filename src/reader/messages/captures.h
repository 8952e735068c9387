// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_MESSAGES_CAPTURES_H_
#define GPUWHY_READER_MESSAGES_CAPTURES_H_

#include <string_view>

#include "reader/messages/catalogue.h"

namespace gpuwhy::messages {

// May this text stand at a capture of that kind? Never when it is empty.
bool Accepts(CaptureKind kind, std::string_view text);

// What a capture at the end of a template takes of the rest of the line: as much as its kind allows, without the full
// stop that ends a sentence; empty when it can take nothing.
std::string_view TakeFirst(CaptureKind kind, std::string_view rest);

// The same for a capture at the begin of a template, which takes the end of what stands before the first literal.
std::string_view TakeLast(CaptureKind kind, std::string_view before);

}  // namespace gpuwhy::messages

#endif  // GPUWHY_READER_MESSAGES_CAPTURES_H_
