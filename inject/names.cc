// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "inject/names.h"

#include <string.h>

#include "inject/ring.h"

namespace gpuwhy::inject {
namespace {

// FNV-1a, 64 bits: 4 000 names collide with probability 4e-13.
uint64_t HashText(const char* text, size_t* length) {
  uint64_t hash = 0xcbf29ce484222325;
  const char* p = text;
  for (; *p != 0; ++p) hash = (hash ^ static_cast<unsigned char>(*p)) * 0x100000001b3;
  *length = static_cast<size_t>(p - text);
  return hash | 1;
}

}  // namespace

Names::Entry* Names::Find(Entry* table, uint64_t key) {
  uint32_t slot = static_cast<uint32_t>((key * 0x9e3779b97f4a7c15) >> 32) & (kSlots - 1);
  while (table[slot].key != 0 && table[slot].key != key) slot = (slot + 1) & (kSlots - 1);
  return &table[slot];
}

uint32_t Names::IdOf(const char* name, Ring* ring) {
  if (name == nullptr) return kUnknown;
  const auto pointer_key = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(name));
  if (pointers_ >= kMaxNames) ForgetPointers();
  Entry* by_pointer = Find(by_pointer_, pointer_key);
  if (by_pointer->key != 0) return by_pointer->id;
  size_t length = 0;
  const uint64_t text_key = HashText(name, &length);
  Entry* by_text = Find(by_text_, text_key);
  if (by_text->key == 0) {
    if (names_ >= kMaxNames) return kUnknown;
    const uint32_t id = names_ + 1;
    if (!ring->WriteBlob(wire::BlobKind::kKernelName, id, name, length < kMaxBytes ? length : kMaxBytes))
      return kUnknown;
    names_ = id;
    *by_text = {text_key, id};
  }
  *by_pointer = {pointer_key, by_text->id};
  ++pointers_;
  return by_text->id;
}

void Names::ForgetPointers() {
  memset(by_pointer_, 0, sizeof(by_pointer_));
  pointers_ = 0;
}

}  // namespace gpuwhy::inject
