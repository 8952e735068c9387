// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_COLLECT_ENV_ULTRALYTICS_H_
#define GPUWHY_READER_COLLECT_ENV_ULTRALYTICS_H_

#include <string_view>

#include "reader/reader.h"

namespace gpuwhy::collect_env {

// The table of `yolo checks` (ultralytics/utils/checks.py, collect_system_info): "CUDA                   12.1". Its
// rows GPU, GPU count and CUDA are None when torch.cuda.is_available() is False, whatever the build: "CUDA None" is no
// CPU build.
class UltralyticsReport {
 public:
  // True when the line is a row of the table that says something of the GPU; its facts have been pushed then.
  bool Read(std::string_view line, const TextLine& quoted, EvidenceSink& sink);

 private:
  bool Cuda(std::string_view version, const TextLine& quoted, EvidenceSink& sink) const;

  int rows_ = 0;      // for so many more lines the table goes on
  bool gpu_ = false;  // it has named one
};

}  // namespace gpuwhy::collect_env

#endif  // GPUWHY_READER_COLLECT_ENV_ULTRALYTICS_H_
