// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_OUT_OF_MEMORY_H_
#define GPUWHY_ENGINE_OUT_OF_MEMORY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rule.h"

// An allocation that a GPU refused, as sums: total = free + held by this process + held by others. Four rules share it,
// so that one failure has one cause.
namespace gpuwhy {

// Bytes and the words in which the text states them.
struct MemorySize {
  double bytes = 0;
  std::string text;
};

struct OutOfMemory {
  std::optional<MemorySize> tried, total, free, allocated, reserved, allowed;
  std::optional<MemorySize> mine;  // of this process, whatever holds it: the allocator, the context, other libraries
  std::string others;              // "process 4211 (19.91 GiB)" where the message names them
  std::vector<const Fact*> facts;  // the lines that say so

  double own() const;          // bytes of this process, as far as the message tells
  double foreign() const;      // total - free - own; 0 where a part is missing
  double unallocated() const;  // held by the allocator without a tensor in it
  bool nothing_allocated() const { return allocated && allocated->bytes <= 0 && own() <= 0; }
};

enum class MemoryCause {
  kUnknown,      // the message does not tell enough
  kForeign,      // others hold what is missing
  kLimit,        // more is free than this process may take
  kContradicts,  // enough is free, and no limit is named
  kFragmented,   // the allocator holds enough, but in pieces
  kTooBig        // the job needs more than there is
};

// PyTorch's message of a text, or a live job of which PyTorch counted a refused allocation; nothing when none was seen.
std::optional<OutOfMemory> FindOutOfMemory(const RuleContext& context);
MemoryCause CauseOf(const OutOfMemory& failure);

// Share of the card that TensorFlow's device got when it was created; nothing where the name leaves the card's memory
// open.
std::optional<double> TensorFlowShareOfCard(const Evidence& evidence);
// A setting of the job that keeps a part of the memory from it: a variable, an option or a call; nullptr: none seen.
const Fact* ProcessMemoryLimit(const RuleContext& context);

// "12.50 MiB", "1.5G", "0 bytes", "4770354232" (bytes); nothing for other words.
std::optional<double> ParseBytes(std::string_view text);
std::string ShowBytes(double bytes);  // "10.6 GiB", "530 MiB"

// Adds what the sums say as parameters (tried, total, free, own, foreign, unallocated, others) and the lines.
void Describe(const OutOfMemory& failure, Finding& finding);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_OUT_OF_MEMORY_H_
