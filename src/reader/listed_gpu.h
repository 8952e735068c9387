// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_LISTED_GPU_H_
#define GPUWHY_READER_LISTED_GPU_H_

#include <optional>
#include <string_view>
#include <vector>

namespace gpuwhy {

// One entry of `nvidia-smi -L`: a GPU by its index, or (without one) a MIG device of the GPU above it.
struct ListedGpu {
  std::optional<long long> index;
  std::string_view name;  // of a MIG device its profile, "3g.20gb"
  std::string_view uuid;
};

// "GPU 0: NVIDIA A100 (UUID: GPU-...)", "MIG 3g.20gb Device 0: (UUID: MIG-...)". Lists that lost their line ends have
// many entries in one line.
std::vector<ListedGpu> ParseListedGpus(std::string_view line);

}  // namespace gpuwhy

#endif  // GPUWHY_READER_LISTED_GPU_H_
