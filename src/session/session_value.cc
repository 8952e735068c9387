// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/session_file.h"

namespace gpuwhy {

void SetValue(Json& line, const Value& value) {
  if (!value.known()) {
    line.Set("s", StateName(value.state));
    line.Set("w", value.why);
    return;
  }
  Json out;
  if (const bool* as_bool = std::get_if<bool>(&value.scalar)) out = *as_bool;
  if (const int64_t* as_int = std::get_if<int64_t>(&value.scalar)) out = *as_int;
  if (const double* as_double = std::get_if<double>(&value.scalar)) out = *as_double;
  if (const std::string* as_text = std::get_if<std::string>(&value.scalar)) out = *as_text;
  if (const StringList* as_list = std::get_if<StringList>(&value.scalar)) {
    out = Json::Array{};
    for (const std::string& item : *as_list) out.Push(item);
  }
  line.Set("v", std::move(out));
}

Value GetValue(const Json& line) {
  const Json& state = line["s"];
  if (state.is_string())
    return Value::Missing(ParseState(state.AsString()).value_or(State::kUnknown), line["w"].AsString());
  const Json& value = line["v"];
  if (value.is_bool()) return Value::Of(value.AsBool());
  if (value.is_int()) return Value::Of(value.AsInt());
  if (value.is_double()) return Value::Of(value.AsDouble());
  if (value.is_string()) return Value::Of(value.AsString());
  if (value.is_array()) {
    StringList list;
    for (const Json& item : value.AsArray()) list.push_back(item.is_string() ? item.AsString() : item.Dump());
    return Value::Of(std::move(list));
  }
  return Value::Missing(State::kUnknown, "the session holds no value");
}

}  // namespace gpuwhy
