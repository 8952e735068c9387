// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_JSON_H_
#define GPUWHY_BASE_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace gpuwhy {

// A JSON value. Objects keep the order of their members, so that what is written is the same on every run.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}                                       // NOLINT(google-explicit-constructor)
  Json(bool value) : data_(value) {}                            // NOLINT(google-explicit-constructor)
  Json(int value) : data_(static_cast<int64_t>(value)) {}       // NOLINT(google-explicit-constructor)
  Json(int64_t value) : data_(value) {}                         // NOLINT(google-explicit-constructor)
  Json(uint64_t value) : data_(static_cast<int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Json(uint32_t value) : data_(static_cast<int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Json(double value) : data_(value) {}                          // NOLINT(google-explicit-constructor)
  Json(const char* value) : data_(std::string(value)) {}        // NOLINT(google-explicit-constructor)
  Json(std::string_view value) : data_(std::string(value)) {}   // NOLINT(google-explicit-constructor)
  Json(std::string value) : data_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Json(Array value) : data_(std::move(value)) {}                // NOLINT(google-explicit-constructor)
  Json(Object value) : data_(std::move(value)) {}               // NOLINT(google-explicit-constructor)

  bool is_null() const { return data_.index() == 0; }
  bool is_bool() const { return data_.index() == 1; }
  bool is_int() const { return data_.index() == 2; }
  bool is_double() const { return data_.index() == 3; }
  bool is_number() const { return is_int() || is_double(); }
  bool is_string() const { return data_.index() == 4; }
  bool is_array() const { return data_.index() == 5; }
  bool is_object() const { return data_.index() == 6; }

  // The getters answer the given default when the value is of another kind: foreign files hold anything.
  bool AsBool(bool fallback = false) const;
  int64_t AsInt(int64_t fallback = 0) const;
  double AsDouble(double fallback = 0) const;
  const std::string& AsString() const;
  const Array& AsArray() const;
  const Object& AsObject() const;

  // Member of an object, or a null value.
  const Json& operator[](std::string_view key) const;
  void Set(std::string key, Json value);
  void Push(Json value);

  // One line without blanks (indent < 0) or indented text. Bytes that are no UTF-8 become U+FFFD.
  std::string Dump(int indent = -1) const;
  // kMalformed with the byte offset when `text` is not one JSON value.
  static Result<Json> Parse(std::string_view text);

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> data_;
};

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_JSON_H_
