// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/buffers.h"

#include <sys/mman.h>

namespace gpuwhy::inject {

bool Buffers::Reserve() {
  if (base_ != nullptr) return true;
  void* memory =
      mmap(nullptr, kBytes * kCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  base_ = static_cast<uint8_t*>(memory);
  return true;
}

uint8_t* Buffers::Lend() {
  if (base_ == nullptr) return nullptr;
  uint32_t lent = __atomic_load_n(&lent_, __ATOMIC_RELAXED);
  while (lent != ~uint32_t{0}) {
    const auto index = static_cast<uint32_t>(__builtin_ctz(~lent));
    if (__atomic_compare_exchange_n(&lent_, &lent, lent | (uint32_t{1} << index), true, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return base_ + index * kBytes;
    }
  }
  return nullptr;
}

void Buffers::Return(uint8_t* buffer) {
  if (buffer < base_ || buffer >= base_ + kBytes * kCount) return;
  const auto index = static_cast<uint32_t>(static_cast<size_t>(buffer - base_) / kBytes);
  __atomic_fetch_and(&lent_, ~(uint32_t{1} << index), __ATOMIC_RELEASE);
}

void Buffers::ReleasePages() {
  uint32_t none = 0;
  if (base_ == nullptr ||
      !__atomic_compare_exchange_n(&lent_, &none, ~uint32_t{0}, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  madvise(base_, kBytes * kCount, MADV_DONTNEED);
  __atomic_store_n(&lent_, 0U, __ATOMIC_RELEASE);
}

}  // namespace gpuwhy::inject
