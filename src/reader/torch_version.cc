// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/torch_version.h"

#include <algorithm>
#include <string>

namespace gpuwhy {
namespace {

// "cu118" is 11.8, "cu92" 9.2, "cu130" 13.0: the last digit is the minor version (names of the wheel indexes).
std::string CudaOfSuffix(std::string_view suffix) {
  std::string digits(suffix.substr(2));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  digits.resize(static_cast<size_t>(std::find_if_not(digits.begin(), digits.end(), is_digit) - digits.begin()));
  if (digits.size() < 2) return "";
  return digits.insert(digits.size() - 1, ".");
}

}  // namespace

void AddTorchVersion(EvidenceSink& sink, std::string_view version, Source source, const TextLine& line) {
  AddQuoted(sink, "framework.torch.version", TextJob(), Value::Of(std::string(version)), source, line);
  const size_t plus = version.find('+');
  if (plus == std::string_view::npos) return;
  const std::string_view suffix = version.substr(plus + 1);
  if (suffix.substr(0, 3) == "cpu") {
    AddQuoted(sink, "framework.torch.cuda_built", TextJob(), Value::Of(std::string()), source, line);
  } else if (suffix.substr(0, 4) == "rocm") {
    AddQuoted(sink, "framework.torch.hip_built", TextJob(), Value::Of(std::string(suffix.substr(4))), source, line);
  } else if (suffix.substr(0, 2) == "cu" && !CudaOfSuffix(suffix).empty()) {
    AddQuoted(sink, "framework.torch.cuda_built", TextJob(), Value::Of(CudaOfSuffix(suffix)), source, line);
  }
}

}  // namespace gpuwhy
