// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/collect_env/lightning.h"

#include <string>

#include "base/text.h"
#include "reader/torch_version.h"
#include "reader/words.h"

namespace gpuwhy::collect_env {
namespace {

bool IsNumber(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

}  // namespace

bool LightningReport::Read(std::string_view line, const TextLine& quoted, EvidenceSink& sink) {
  if (StartsWith(line, "* ") && line.back() == ':') {
    const std::string_view name = Trim(line.substr(2, line.size() - 3));
    const bool known = name == "CUDA" || name == "Lightning" || name == "Packages" || name == "System";
    // Only its first section tells the report from any other list.
    section_ = known && (name == "CUDA" || !section_.empty()) ? name : std::string_view();
    gpus_ = false;
    return !section_.empty();
  }
  if (section_.empty()) return false;
  if (!StartsWith(line, "- ")) {
    section_ = {};
    return false;
  }
  const Labelled row = SplitLabel(line.substr(2));
  if (row.label.empty()) {
    const std::string_view name = Trim(line.substr(2));
    if (gpus_ && name != "None")
      AddQuoted(sink, "gpu.name", TextGpu(next_gpu_++), Value::Of(std::string(name)), Source::kFramework, quoted);
    return gpus_;
  }
  gpus_ = section_ == "CUDA" && row.label == "GPU";
  return gpus_ ||
         (section_ == "CUDA" ? Cuda(row.label, row.value, quoted, sink) : Row(row.label, row.value, quoted, sink));
}

bool LightningReport::Cuda(std::string_view label, std::string_view value, const TextLine& quoted, EvidenceSink& sink) {
  if (label == "available" && (value == "True" || value == "False")) {
    available_ = value == "True";
    AddQuoted(sink, "framework.torch.cuda_available", TextJob(), Value::Of(value == "True"), Source::kFramework,
              quoted);
    return true;
  }
  // torch.version.cuda, which is None in builds without CUDA; those for AMD GPUs see a device all the same.
  if (label != "version" || (!IsNumber(value) && (value != "None" || available_))) return false;
  AddQuoted(sink, "framework.torch.cuda_built", TextJob(), Value::Of(std::string(value == "None" ? "" : value)),
            Source::kFramework, quoted);
  return true;
}

bool LightningReport::Row(std::string_view label, std::string_view value, const TextLine& quoted, EvidenceSink& sink) {
  if ((label == "torch" || label == "pyTorch_version") && IsNumber(value)) {
    AddTorchVersion(sink, value, Source::kFramework, quoted);
  } else if (section_ == "System" && label == "OS") {
    const std::string lower = Lower(value);
    const char* name = lower == "darwin" ? "macos" : lower == "windows" ? "windows" : lower == "linux" ? "linux" : "";
    if (*name != '\0')
      AddQuoted(sink, "host.os.name", Entity::Host(), Value::Of(std::string(name)), Source::kOs, quoted);
  }
  return true;
}

}  // namespace gpuwhy::collect_env
