// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_BASE_RESULT_H_
#define GPUWHY_BASE_RESULT_H_

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace gpuwhy {

enum class ErrorCode { kNotFound, kPermission, kUnsupported, kMalformed, kIo, kTimeout, kBusy, kUsage };

// Why a call could not do its job. `hint` says what the user can do; empty when nothing helps.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;
  std::string hint;

  // "what: why; what to do" on one line, as printed to stderr.
  std::string Line() const { return hint.empty() ? message : message + "; " + hint; }
};

// A value or the reason why there is none. Member names follow std::expected so that it can become an alias later.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : data_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : data_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return data_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return std::get<0>(data_); }
  const T& operator*() const& { return std::get<0>(data_); }
  T&& operator*() && { return std::get<0>(std::move(data_)); }
  T* operator->() { return &std::get<0>(data_); }
  const T* operator->() const { return &std::get<0>(data_); }
  const Error& error() const { return std::get<1>(data_); }

 private:
  std::variant<T, Error> data_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace gpuwhy

#endif  // GPUWHY_BASE_RESULT_H_
