// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/text_facts.h"

namespace gpuwhy {

bool FromText(const Evidence& evidence) { return evidence.Text("session.kind") == "text"; }

const Fact* Said(const Evidence& evidence, std::string_view id) { return evidence.Find("log." + std::string(id)); }

StringList Captured(const Evidence& evidence, std::string_view id, std::string_view name) {
  const Fact* fact = evidence.Find("log." + std::string(id) + "." + std::string(name));
  return fact != nullptr ? fact->value.AsList().value_or(StringList{}) : StringList{};
}

std::string FirstCaptured(const Evidence& evidence, std::string_view id, std::string_view name) {
  const StringList all = Captured(evidence, id, name);
  return all.empty() ? "" : all.front();
}

}  // namespace gpuwhy
