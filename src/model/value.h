// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_MODEL_VALUE_H_
#define GPUWHY_MODEL_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpuwhy {

// What is known about one field. Only kValue carries a value: everything else says why there is none.
enum class State : uint8_t { kValue, kUnsupported, kNoPermission, kNotFound, kStale, kUnknown };

std::string_view StateName(State state);
std::optional<State> ParseState(std::string_view name);

using StringList = std::vector<std::string>;
using Scalar = std::variant<std::monostate, bool, int64_t, double, std::string, StringList>;

struct Value {
  State state = State::kUnknown;
  Scalar scalar;
  std::string why;  // for every state but kValue: the reason, in the words of the source

  static Value Of(Scalar scalar) { return {State::kValue, std::move(scalar), ""}; }
  static Value Missing(State state, std::string why) { return {state, {}, std::move(why)}; }

  bool known() const { return state == State::kValue; }
  std::optional<bool> AsBool() const;
  std::optional<int64_t> AsInt() const;    // a double with a whole value counts
  std::optional<double> AsDouble() const;  // an integer counts
  std::optional<std::string> AsText() const;
  std::optional<StringList> AsList() const;  // a single text counts as a list of one
  // For people: "true", "12", "0.25", "a, b"; "unknown (why)" where there is no value.
  std::string Show() const;
};

}  // namespace gpuwhy

#endif  // GPUWHY_MODEL_VALUE_H_
