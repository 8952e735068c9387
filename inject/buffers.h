// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_BUFFERS_H_
#define GPUWHY_INJECT_BUFFERS_H_

#include <stddef.h>
#include <stdint.h>

namespace gpuwhy::inject {

// The buffers lent to CUPTI. Address space is reserved once, pages come as CUPTI writes and go after the window. CUPTI
// asks for buffers on the job's threads, so lending is one compare-and-swap.
class Buffers {
 public:
  static constexpr size_t kBytes = size_t{1} << 20;
  static constexpr uint32_t kCount = 32;  // newer CUPTI takes one a launching thread, so a few are not enough

  bool Reserve();
  uint8_t* Lend();  // nullptr when all are out: CUPTI then drops records and counts them
  void Return(uint8_t* buffer);
  void ReleasePages();  // only while no buffer is out; else does nothing

 private:
  uint8_t* base_ = nullptr;
  uint32_t lent_ = 0;  // one bit a buffer
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_BUFFERS_H_
