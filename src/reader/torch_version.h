// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_TORCH_VERSION_H_
#define GPUWHY_READER_TORCH_VERSION_H_

#include <string_view>

#include "reader/reader.h"

namespace gpuwhy {

// Pushes framework.torch.version and what the part behind "+" says of the build: "cpu" -> cuda_built "", "cu118" ->
// cuda_built "11.8", "rocm5.6" -> hip_built "5.6". A version without such a part says nothing (the default build of the
// index differs by system).
void AddTorchVersion(EvidenceSink& sink, std::string_view version, Source source, const TextLine& line);

}  // namespace gpuwhy

#endif  // GPUWHY_READER_TORCH_VERSION_H_
