// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_TEXT_FACTS_H_
#define GPUWHY_ENGINE_TEXT_FACTS_H_

#include <string>
#include <string_view>

#include "model/evidence.h"

// Questions about evidence that was read from a pasted text.
namespace gpuwhy {

// The evidence comes from a text, not from live witnesses.
bool FromText(const Evidence& evidence);

// The fact log.<id> of a message of knowledge/messages (its value counts the matches, its quote is the first matching
// line); nullptr when the text does not hold that message.
const Fact* Said(const Evidence& evidence, std::string_view id);

// Distinct values that a message of the text had at {name}, in order of appearance.
StringList Captured(const Evidence& evidence, std::string_view id, std::string_view name);
// The first of them, "" when there is none.
std::string FirstCaptured(const Evidence& evidence, std::string_view id, std::string_view name);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_TEXT_FACTS_H_
