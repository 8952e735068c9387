// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/collect_env/ultralytics.h"

#include <string>
#include <vector>

#include "base/text.h"
#include "reader/torch_version.h"
#include "reader/words.h"

namespace gpuwhy::collect_env {
namespace {

constexpr int kRows = 14;
constexpr size_t kLongestRow = 160;

bool IsNumber(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

void Add(EvidenceSink& sink, const char* name, Value value, const TextLine& line) {
  AddQuoted(sink, name, TextJob(), std::move(value), Source::kFramework, line);
}

// "✅ 2.1.0+cpu>=1.8.0" or with a cross where the version does not fit.
bool Torch(const std::vector<std::string_view>& words, const TextLine& line, EvidenceSink& sink) {
  if (words.size() < 3 || words[0] != "torch" || (words[1] != "✅" && words[1] != "❌")) return false;
  const std::string_view version = words[2].substr(0, words[2].find_first_of("<>=!,~"));
  if (!IsNumber(version)) return false;
  AddTorchVersion(sink, version, Source::kFramework, line);
  return true;
}

}  // namespace

// torch.version.cuda is None in builds for AMD GPUs too, but those name their GPU in the row before.
bool UltralyticsReport::Cuda(std::string_view version, const TextLine& quoted, EvidenceSink& sink) const {
  if (version == "None") {
    if (!gpu_) Add(sink, "framework.torch.cuda_available", Value::Of(false), quoted);
    return true;
  }
  if (!IsNumber(version)) return false;
  Add(sink, "framework.torch.cuda_available", Value::Of(true), quoted);
  Add(sink, "framework.torch.cuda_built", Value::Of(std::string(version)), quoted);
  return true;
}

bool UltralyticsReport::Read(std::string_view line, const TextLine& quoted, EvidenceSink& sink) {
  const bool first = StartsWith(line, "Environment ") || StartsWith(line, "Install ") || StartsWith(line, "torch ");
  if (line.size() > kLongestRow || (!first && (rows_ == 0 || (line[0] != 'C' && line[0] != 'G')))) {
    if (rows_ > 0) --rows_;
    return false;
  }
  const std::vector<std::string_view> words = Words(line);
  if (Torch(words, quoted, sink)) return true;
  if (words.size() == 2 && (words[0] == "Environment" || words[0] == "Install")) {
    rows_ = kRows;
    gpu_ = false;
    return false;  // the catalogue of messages has them
  }
  if (rows_ == 0) return false;
  --rows_;
  if (words.size() == 2 && words[0] == "CUDA") return Cuda(words[1], quoted, sink);
  if (words.size() == 3 && words[0] == "GPU" && words[1] == "count") {
    const auto count = ParseInt(words[2]);
    if (count && *count >= 0)
      Add(sink, "framework.torch.device_count", Value::Of(static_cast<int64_t>(*count)), quoted);
    return count.has_value() || words[2] == "None";
  }
  // "GPU                    Tesla T4, 15102MiB"
  const size_t comma = line.rfind(", ");
  if (words[0] != "GPU" || words.size() < 3 || comma == std::string_view::npos || !Contains(line.substr(comma), "MiB"))
    return false;
  gpu_ = true;
  Add(sink, "framework.torch.device.0.name", Value::Of(std::string(Trim(line.substr(3, comma - 3)))), quoted);
  return true;
}

}  // namespace gpuwhy::collect_env
