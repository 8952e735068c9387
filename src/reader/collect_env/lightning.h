// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_COLLECT_ENV_LIGHTNING_H_
#define GPUWHY_READER_COLLECT_ENV_LIGHTNING_H_

#include <string_view>

#include "reader/reader.h"

namespace gpuwhy::collect_env {

// The report of PyTorch Lightning (requirements/collect_env_details.py): sections "* CUDA:", "* Lightning:",
// "* System:" of rows "- available: False".
class LightningReport {
 public:
  // True when the line belongs to such a report; the facts have been pushed then.
  bool Read(std::string_view line, const TextLine& quoted, EvidenceSink& sink);

 private:
  bool Cuda(std::string_view label, std::string_view value, const TextLine& quoted, EvidenceSink& sink);
  bool Row(std::string_view label, std::string_view value, const TextLine& quoted, EvidenceSink& sink);

  std::string_view section_;  // "" outside
  bool gpus_ = false;         // the names of GPUs follow
  bool available_ = false;
  long long next_gpu_ = 0;
};

}  // namespace gpuwhy::collect_env

#endif  // GPUWHY_READER_COLLECT_ENV_LIGHTNING_H_
