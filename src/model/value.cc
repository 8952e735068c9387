// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "model/value.h"

#include <array>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace gpuwhy {
namespace {

constexpr std::array<std::string_view, 6> kStateNames = {"value",     "unsupported", "no-permission",
                                                         "not-found", "stale",       "unknown"};

}  // namespace

std::string_view StateName(State state) { return kStateNames[static_cast<size_t>(state)]; }

std::optional<State> ParseState(std::string_view name) {
  for (size_t i = 0; i < kStateNames.size(); ++i) {
    if (kStateNames[i] == name) return static_cast<State>(i);
  }
  return std::nullopt;
}

std::optional<bool> Value::AsBool() const {
  const bool* value = std::get_if<bool>(&scalar);
  return known() && value ? std::optional<bool>(*value) : std::nullopt;
}

std::optional<int64_t> Value::AsInt() const {
  if (!known()) return std::nullopt;
  if (const int64_t* value = std::get_if<int64_t>(&scalar)) return *value;
  const double* value = std::get_if<double>(&scalar);
  if (value == nullptr || *value != std::floor(*value) || std::fabs(*value) > 9e15) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<double> Value::AsDouble() const {
  if (!known()) return std::nullopt;
  if (const double* value = std::get_if<double>(&scalar)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&scalar)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<std::string> Value::AsText() const {
  const std::string* value = std::get_if<std::string>(&scalar);
  return known() && value ? std::optional<std::string>(*value) : std::nullopt;
}

std::optional<StringList> Value::AsList() const {
  if (!known()) return std::nullopt;
  if (const StringList* value = std::get_if<StringList>(&scalar)) return *value;
  if (const std::string* value = std::get_if<std::string>(&scalar)) return StringList{*value};
  return std::nullopt;
}

std::string Value::Show() const {
  if (!known()) return why.empty() ? std::string(StateName(state)) : Format("{} ({})", StateName(state), why);
  if (const bool* value = std::get_if<bool>(&scalar)) return *value ? "true" : "false";
  if (const int64_t* value = std::get_if<int64_t>(&scalar)) return Format("{}", *value);
  if (const double* value = std::get_if<double>(&scalar)) return Format("{:.4g}", *value);
  if (const std::string* value = std::get_if<std::string>(&scalar)) return *value;
  if (const StringList* value = std::get_if<StringList>(&scalar)) return Join(*value, ", ");
  return "";
}

}  // namespace gpuwhy
