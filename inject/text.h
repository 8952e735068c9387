// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_TEXT_H_
#define GPUWHY_INJECT_TEXT_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace gpuwhy::inject {

// A text of at most kSize - 1 bytes on the stack; what does not fit is cut. No allocation: it is built inside the job,
// at times in the middle of a driver call.
template <size_t kSize>
class Text {
 public:
  constexpr Text() = default;

  Text& Add(const char* text) { return Add(text, text ? strlen(text) : 0); }

  Text& Add(const char* text, size_t length) {
    for (size_t i = 0; i < length && size_ + 1 < kSize; ++i) data_[size_++] = text[i];
    data_[size_] = 0;
    return *this;
  }

  Text& AddNumber(uint64_t value) {
    char digits[20];
    size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    while (count > 0 && size_ + 1 < kSize) data_[size_++] = digits[--count];
    data_[size_] = 0;
    return *this;
  }

  // A JSON string with its quotes. Bytes that are not valid there by themselves are escaped as one byte each.
  Text& AddJson(const char* text) {
    Add("\"");
    for (const char* p = text ? text : ""; *p != 0; ++p) {
      const auto byte = static_cast<unsigned char>(*p);
      if (byte == '"' || byte == '\\') {
        Add("\\").Add(p, 1);
      } else if (byte < 0x20 || byte >= 0x7f) {
        const char* hex = "0123456789abcdef";
        Add("\\u00").Add(hex + (byte >> 4), 1).Add(hex + (byte & 15), 1);
      } else {
        Add(p, 1);
      }
    }
    return Add("\"");
  }

  const char* c_str() const { return data_; }
  size_t size() const { return size_; }
  bool full() const { return size_ + 1 >= kSize; }

 private:
  char data_[kSize] = {};
  size_t size_ = 0;
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_TEXT_H_
