// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "base/text.h"
#include "reader/collect_env/lightning.h"
#include "reader/collect_env/packages.h"
#include "reader/collect_env/ultralytics.h"
#include "reader/reader.h"
#include "reader/torch_version.h"
#include "reader/words.h"

// Answers of `python -m torch.utils.collect_env` (torch/utils/collect_env.py: "Yes" and "No" before PyTorch 1.6, "True"
// and "False" since), of `transformers-cli env`, of PyTorch Lightning, of `yolo checks`, and lists of installed
// packages.
namespace gpuwhy {
namespace {

constexpr long long kMostGpus = 1024;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<bool> YesNo(std::string_view text) {
  if (text == "Yes" || text == "True") return true;
  if (text == "No" || text == "False") return false;
  return std::nullopt;
}

// The words with which collect_env says that it has no value.
bool Nothing(std::string_view text) {
  return text.empty() || text == "N/A" || text == "Could not collect" || text == "No CUDA" || text == "None";
}

class Report {
 public:
  Report(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const std::string_view line = Trim(text_[at_]);
      if (line.empty()) continue;
      if (lightning_.Read(line, text_.lines()[at_], sink_) || ultralytics_.Read(line, text_.lines()[at_], sink_)) {
        text_.Claim(at_);
        continue;
      }
      if (inside_ && Claims(line)) text_.Claim(at_);
      const Labelled row = SplitLabel(line);
      if (!row.label.empty() && row.label.size() < 40 && Field(row.label, row.value)) {
        text_.Claim(at_);
      } else if (!gpus_ || !Gpu(line)) {
        if (!PackageShown(row)) PackageRow(line);
      }
    }
  }

 private:
  void Add(const char* name, Value value) {
    AddQuoted(sink_, name, TextJob(), std::move(value), Source::kFramework, text_.lines()[at_]);
  }
  void AddHost(const char* name, Value value, Source source) {
    AddQuoted(sink_, name, Entity::Host(), std::move(value), source, text_.lines()[at_]);
  }

  // Rows that say nothing for us: of the CPU, of the compilers, paths of cuDNN.
  bool Claims(std::string_view line) {
    const bool row = !SplitLabel(line).label.empty() || line[0] == '/' || line[0] == '[' || StartsWith(line, "GPU ");
    if (!row) inside_ = false;
    return row;
  }

  bool Field(std::string_view label, std::string_view value) {
    if (StartsWith(label, "- ")) label.remove_prefix(2);  // transformers-cli makes a list
    gpus_ = gpus_ && StartsWith(label, "GPU ");
    return Build(label, value) || Version(label, value) || (inside_ && Machine(label, value));
  }

  bool Version(std::string_view label, std::string_view value) {
    if (label == "PyTorch version" && !value.empty() && IsDigit(value[0])) {
      inside_ = torch_ = true;
      AddTorchVersion(sink_, value, Source::kFramework, text_.lines()[at_]);
      return true;
    }
    // transformers: "PyTorch version (GPU?): 2.1.0+cu121 (True)"
    if (label != "PyTorch version (GPU?)" && label != "Tensorflow version (GPU?)") return false;
    const auto words = Words(value);
    if (words.size() != 2 || !IsDigit(words[0][0])) return true;  // "not installed (NA)"
    if (label[0] == 'P') {
      torch_ = true;
      AddTorchVersion(sink_, words[0], Source::kFramework, text_.lines()[at_]);
      if (const auto sees = YesNo(words[1].substr(1, words[1].size() - 2)))
        Add("framework.torch.cuda_available", Value::Of(*sees));
    } else {
      Add("framework.tensorflow.version", Value::Of(std::string(words[0])));
      if (words[1] == "(False)") Add("framework.tensorflow.gpu_count", Value::Of(int64_t{0}));
    }
    return true;
  }

  bool Build(std::string_view label, std::string_view value) {
    if (label == "CUDA used to build PyTorch") {
      inside_ = true;
      // "N/A" stands there in builds for another kind of GPU.
      if (value == "None") Add("framework.torch.cuda_built", Value::Of(std::string()));
      if (!value.empty() && IsDigit(value[0])) Add("framework.torch.cuda_built", Value::Of(std::string(value)));
      return true;
    }
    if (label == "ROCM used to build PyTorch") {
      inside_ = true;
      if (!Nothing(value)) Add("framework.torch.hip_built", Value::Of(std::string(value)));
      return true;
    }
    if (label != "Is CUDA available") return false;
    inside_ = true;
    if (const auto available = YesNo(value)) Add("framework.torch.cuda_available", Value::Of(*available));
    return true;
  }

  bool Machine(std::string_view label, std::string_view value) {
    const bool version = !value.empty() && IsDigit(value[0]);
    if (label == "OS") {
      System(value);
    } else if (label == "Python platform") {
      if (Contains(value, "microsoft") || Contains(value, "WSL2")) AddHost("host.wsl", Value::Of(true), Source::kOs);
    } else if (label == "CUDA runtime version") {
      if (version) AddHost("toolkit.versions", Value::Of(StringList{std::string(value)}), Source::kOs);
    } else if (label == "Nvidia driver version") {
      if (version) AddHost("driver.version", Value::Of(std::string(value)), Source::kDriver);
    } else if (label == "GPU models and configuration") {
      gpus_ = true;
      if (!Nothing(value) && !Gpu(value)) AddName(0, value);
    } else {
      return gpus_ && Gpu(text_[at_]);
    }
    return true;
  }

  void System(std::string_view value) {
    const std::string lower = Lower(value);
    const bool mac = StartsWith(lower, "mac");
    if (Nothing(value)) return;
    AddHost("host.os.name",
            Value::Of(std::string(mac                          ? "macos"
                                  : Contains(lower, "windows") ? "windows"
                                                               : "linux")),
            Source::kOs);
  }

  // "GPU 1: Tesla V100-SXM2-16GB", in PyTorch before 1.1 with its UUID behind.
  bool Gpu(std::string_view line) {
    const Labelled row = SplitLabel(Trim(line));
    const auto index = StartsWith(row.label, "GPU ") ? ParseInt(row.label.substr(4)) : std::nullopt;
    if (!index || *index < 0 || *index > kMostGpus || row.value.empty()) return false;
    AddName(*index, Trim(row.value.substr(0, row.value.find(" (UUID"))));
    text_.Claim(at_);
    return true;
  }

  void AddName(long long index, std::string_view name) {
    AddQuoted(sink_, "gpu.name", TextGpu(index), Value::Of(std::string(name)), Source::kDriver, text_.lines()[at_]);
  }

  // The first two lines of `pip show`.
  bool PackageShown(const Labelled& row) {
    if (row.label != "Name" || at_ + 1 == text_.size()) return false;
    const Labelled next = SplitLabel(Trim(text_[at_ + 1]));
    if (next.label != "Version") return false;
    const auto package = collect_env::ReadPackage(std::string(row.value) + " " + std::string(next.value));
    if (package && collect_env::AddPackage(sink_, *package, text_.lines()[at_ + 1])) {
      text_.Claim(at_);
      text_.Claim(at_ + 1);
    }
    return true;
  }

  void PackageRow(std::string_view line) {
    // A row is short, and the names begin with few letters.
    if (line.size() > 160 || std::string_view("[-ptcjnPTCJN").find(line[0]) == std::string_view::npos) return;
    const auto package = collect_env::ReadPackage(line);
    if (!package) return;
    // The report of the running PyTorch says more than the list of packages, which may hold two of them.
    const bool torch = package->name == "torch" || package->name == "pytorch";
    if (torch && torch_ && package->build.empty()) return text_.Claim(at_);
    if (collect_env::AddPackage(sink_, *package, text_.lines()[at_])) text_.Claim(at_);
  }

  PastedText& text_;
  EvidenceSink& sink_;
  size_t at_ = 0;
  collect_env::LightningReport lightning_;
  collect_env::UltralyticsReport ultralytics_;
  bool inside_ = false;  // a report of collect_env
  bool gpus_ = false;    // its list of GPUs
  bool torch_ = false;   // the running PyTorch has named its version
};

void ReadReport(PastedText& text, EvidenceSink& sink) { Report(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_collect_env;
constinit const ReaderInfo kReader_collect_env{"collect_env", &ReadReport};

}  // namespace gpuwhy
