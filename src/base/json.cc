// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <nlohmann/json.hpp>

#include "base/format.h"

namespace gpuwhy {
namespace {

using Foreign = nlohmann::ordered_json;

Foreign ToForeign(const Json& value) {
  if (value.is_bool()) return value.AsBool();
  if (value.is_int()) return value.AsInt();
  if (value.is_double()) return value.AsDouble();
  if (value.is_string()) return value.AsString();
  if (value.is_array()) {
    Foreign out = Foreign::array();
    for (const Json& item : value.AsArray()) out.push_back(ToForeign(item));
    return out;
  }
  if (value.is_object()) {
    Foreign out = Foreign::object();
    for (const auto& [key, item] : value.AsObject()) out[key] = ToForeign(item);
    return out;
  }
  return nullptr;
}

Json FromForeign(const Foreign& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    Json::Array out;
    for (const Foreign& item : value) out.push_back(FromForeign(item));
    return out;
  }
  if (value.is_object()) {
    Json::Object out;
    for (const auto& [key, item] : value.items()) out.emplace_back(key, FromForeign(item));
    return out;
  }
  return {};
}

}  // namespace

bool Json::AsBool(bool fallback) const {
  const bool* value = std::get_if<bool>(&data_);
  return value ? *value : fallback;
}

int64_t Json::AsInt(int64_t fallback) const {
  if (const int64_t* value = std::get_if<int64_t>(&data_)) return *value;
  const double* value = std::get_if<double>(&data_);
  return value && *value > -9e18 && *value < 9e18 ? static_cast<int64_t>(*value) : fallback;
}

double Json::AsDouble(double fallback) const {
  if (const double* value = std::get_if<double>(&data_)) return *value;
  const int64_t* value = std::get_if<int64_t>(&data_);
  return value ? static_cast<double>(*value) : fallback;
}

const std::string& Json::AsString() const {
  static const std::string kEmpty;
  const std::string* value = std::get_if<std::string>(&data_);
  return value ? *value : kEmpty;
}

const Json::Array& Json::AsArray() const {
  static const Array kEmpty;
  const Array* value = std::get_if<Array>(&data_);
  return value ? *value : kEmpty;
}

const Json::Object& Json::AsObject() const {
  static const Object kEmpty;
  const Object* value = std::get_if<Object>(&data_);
  return value ? *value : kEmpty;
}

const Json& Json::operator[](std::string_view key) const {
  static const Json kNull;
  for (const auto& [name, value] : AsObject()) {
    if (name == key) return value;
  }
  return kNull;
}

void Json::Set(std::string key, Json value) {
  if (!is_object()) data_ = Object{};
  for (auto& [name, old] : std::get<Object>(data_)) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  std::get<Object>(data_).emplace_back(std::move(key), std::move(value));
}

void Json::Push(Json value) {
  if (!is_array()) data_ = Array{};
  std::get<Array>(data_).push_back(std::move(value));
}

std::string Json::Dump(int indent) const {
  return ToForeign(*this).dump(indent, ' ', false, Foreign::error_handler_t::replace);
}

Result<Json> Json::Parse(std::string_view text) {
  // Deep nesting would exhaust the stack in the conversion below: no file of ours nests more than a few levels.
  bool too_deep = false;
  const auto guard = [&too_deep](int depth, Foreign::parse_event_t, Foreign&) {
    too_deep = too_deep || depth > 200;
    return !too_deep;
  };
  Foreign value = Foreign::parse(text.begin(), text.end(), guard, /*allow_exceptions=*/false);
  if (too_deep) return Error{ErrorCode::kMalformed, "JSON nested deeper than 200 levels", ""};
  if (value.is_discarded()) return Error{ErrorCode::kMalformed, Format("not a JSON value ({} bytes)", text.size()), ""};
  return FromForeign(value);
}

}  // namespace gpuwhy
