// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_KNOWLEDGE_GPUS_H_
#define GPUWHY_KNOWLEDGE_GPUS_H_

#include <optional>
#include <string_view>

#include "knowledge/tables.h"

// GPUs by the name that a tool prints (gpus.tsv).
namespace gpuwhy::knowledge {

struct GpuFacts {
  std::string_view capability;    // "8.6"; "" when the name leaves it open
  double watts = 0;               // default power limit, 0 when the name leaves it open
  double gib = 0;                 // memory, 0 when the name leaves it open
  std::string_view architecture;  // "Ampere"
};

// The longest name of the table that the printed one begins with, word by word; "NVIDIA", "Tesla" and letter case do
// not matter. Watts and memory only for the whole name: more words behind it name another board. A name cut off with
// "..." gives what all GPUs of that beginning have in common. Nothing: not known.
std::optional<GpuFacts> FindGpu(std::string_view printed);

// A consumer card (GeForce, TITAN): no forward compatibility, no TCC by default (CUDA Compatibility guide).
bool IsConsumerGpu(std::string_view printed);

}  // namespace gpuwhy::knowledge

#endif  // GPUWHY_KNOWLEDGE_GPUS_H_
