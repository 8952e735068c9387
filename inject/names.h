// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_NAMES_H_
#define GPUWHY_INJECT_NAMES_H_

#include <stddef.h>
#include <stdint.h>

namespace gpuwhy::inject {

class Ring;

// Small ids of kernel names; writes a name to the ring as a blob the first time. Not thread-safe: the caller holds the
// conversion lock. Fixed size, no allocation.
class Names {
 public:
  static constexpr size_t kMaxBytes = 512;  // template names of several kilobytes are common; longer ones are cut
  static constexpr uint32_t kUnknown = 0;   // no name, table full or ring full

  // Two steps: the pointer (CUPTI interns names, so it repeats) and, when that is new, the text.
  uint32_t IdOf(const char* name, Ring* ring);

  // After cuptiFinalize the pointers may be reused for other names.
  void ForgetPointers();

 private:
  static constexpr uint32_t kSlots = 8192;  // power of two
  static constexpr uint32_t kMaxNames = kSlots / 2;
  struct Entry {
    uint64_t key;
    uint32_t id;
  };
  static Entry* Find(Entry* table, uint64_t key);

  Entry by_pointer_[kSlots] = {};
  Entry by_text_[kSlots] = {};
  uint32_t pointers_ = 0;
  uint32_t names_ = 0;
};

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_NAMES_H_
