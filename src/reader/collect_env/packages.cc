// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/collect_env/packages.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "reader/torch_version.h"
#include "reader/words.h"

namespace gpuwhy::collect_env {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsVersion(std::string_view text) {
  return !text.empty() && IsDigit(text[0]) && text.find('.') != std::string_view::npos &&
         text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.+-_!") == std::string_view::npos;
}

// Only these matter, and they keep prose such as "torch 2" out.
bool IsName(std::string_view name) {
  constexpr std::string_view kNames[] = {"torch",
                                         "pytorch",
                                         "pytorch-gpu",
                                         "pytorch-cpu",
                                         "cpuonly",
                                         "tensorflow",
                                         "tensorflow-gpu",
                                         "tensorflow-cpu",
                                         "jax",
                                         "jaxlib",
                                         "tensorflow-intel",
                                         "tensorflow-macos",
                                         "pytorch-cuda",
                                         "tensorflow_cpu",
                                         "tensorflow-base",
                                         "cudatoolkit",
                                         "cudnn",
                                         "tensorflow-metal",
                                         "tensorflow-directml-plugin"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  return StartsWith(name, "jax-cuda") || StartsWith(name, "nvidia-cudnn-cu");
}

std::optional<Package> Make(std::string_view name, std::string_view version, std::string_view build) {
  Package package{Lower(name), std::string(version), std::string(build)};
  return IsName(package.name) && IsVersion(version) ? std::optional(std::move(package)) : std::nullopt;
}

// "torch==1.5.1", "pytorch=1.4.0=py3.7_cpu_0"
std::optional<Package> Pinned(std::string_view word) {
  const size_t at = word.find('=');
  if (at == std::string_view::npos) return std::nullopt;
  if (word.substr(at, 2) == "==") return Make(word.substr(0, at), word.substr(at + 2), "");
  const size_t next = word.find('=', at + 1);
  if (next == std::string_view::npos) return std::nullopt;
  return Make(word.substr(0, at), word.substr(at + 1, next - at - 1), word.substr(next + 1));
}

// `pip freeze` of a package that came from a file: "torch @ https://.../torch-2.1.0%2Bcpu-cp311-...whl#sha256=...".
std::optional<Package> FromWheel(std::string_view name, std::string_view place) {
  std::string file(place.substr(place.rfind('/') + 1));
  for (size_t at = file.find("%2B"); at != std::string::npos; at = file.find("%2B", at)) file.replace(at, 3, "+");
  const size_t begin = file.find('-');
  if (begin == std::string::npos || file.find(".whl") == std::string::npos) return std::nullopt;
  const std::string version = file.substr(begin + 1, file.find('-', begin + 1) - begin - 1);
  return Make(name, version, "");
}

void Add(EvidenceSink& sink, const char* name, Value value, const TextLine& line) {
  AddQuoted(sink, name, TextJob(), std::move(value), Source::kFramework, line);
}

void AddTorch(EvidenceSink& sink, const Package& package, const TextLine& line) {
  // conda's default differs by channel: without a telling build string its version would be taken for pip's.
  const bool pip = package.build.empty() || StartsWith(package.build, "pypi");
  const std::optional<std::string> cuda = CudaOfBuild(package.build);
  if (pip) return AddTorchVersion(sink, package.version, Source::kFramework, line);
  if (!cuda) return;
  Add(sink, "framework.torch.version", Value::Of(package.version), line);
  Add(sink, "framework.torch.cuda_built", Value::Of(*cuda), line);
}

// Until 2.11 tensorflow-gpu was the build with CUDA; later packages of this name hold nothing.
void AddTensorFlow(EvidenceSink& sink, const Package& package, const TextLine& line) {
  Add(sink, "framework.tensorflow.version", Value::Of(package.version), line);
  const Version version = ParseVersion(package.version).value_or(Version{});
  if (package.name == "tensorflow-gpu" && Compare(version, Version{{2, 12}}) < 0)
    Add(sink, "framework.tensorflow.cuda_built", Value::Of(true), line);
  if (package.name == "tensorflow-cpu" || package.name == "tensorflow_cpu" || StartsWith(package.build, "mkl_") ||
      StartsWith(package.build, "eigen_"))
    Add(sink, "framework.tensorflow.cuda_built", Value::Of(false), line);
  if (StartsWith(package.build, "gpu_") || StartsWith(package.build, "cuda"))
    Add(sink, "framework.tensorflow.cuda_built", Value::Of(true), line);
}

}  // namespace

std::optional<Package> ReadPackage(std::string_view line) {
  std::vector<std::string_view> words = Words(line);
  if (!words.empty() && (words[0] == "[pip]" || words[0] == "[pip3]" || words[0] == "[conda]" || words[0] == "-"))
    words.erase(words.begin());
  if (words.size() == 1) return Pinned(words[0]);
  if (words.size() == 3 && words[1] == "@") return FromWheel(words[0], words[2]);
  // name version [build [features] [channel]]; pip adds the folder of an editable project.
  if (words.size() < 2 || words.size() > 5) return std::nullopt;
  const bool folder = words.size() > 2 && words[2].find_first_of("/\\") != std::string_view::npos;
  // Every build string of conda counts its builds; a word without a figure is prose.
  if (words.size() > 2 && !folder && words[2].find_first_of("0123456789") == std::string_view::npos)
    return std::nullopt;
  return Make(words[0], words[1], words.size() > 2 && !folder ? words[2] : std::string_view());
}

std::optional<std::string> CudaOfBuild(std::string_view build) {
  const size_t at = build.find("cuda");
  if (at == std::string_view::npos) {
    const bool cpu = StartsWith(build, "cpu") || build.find("_cpu") != std::string_view::npos;
    return cpu ? std::optional<std::string>("") : std::nullopt;
  }
  const std::string_view rest = build.substr(at + 4);
  const std::string number(rest.substr(0, std::min(rest.find_first_not_of("0123456789."), rest.size())));
  const size_t dot = number.find('.');
  if (dot == 0 || number.size() < 2) return std::nullopt;
  // "cuda118" has its minor version in the last figure.
  if (dot == std::string::npos) return number.substr(0, number.size() - 1) + "." + number.back();
  return number.substr(0, number.find('.', dot + 1));
}

bool AddPackage(EvidenceSink& sink, const Package& package, const TextLine& line) {
  const std::string& name = package.name;
  if (name == "torch" || StartsWith(name, "pytorch")) {
    if (name != "pytorch-cuda") AddTorch(sink, package, line);
  } else if (name == "cpuonly") {  // conda's switch for builds without CUDA
    Add(sink, "framework.torch.cuda_built", Value::Of(std::string()), line);
  } else if (name == "tensorflow-metal" || name == "tensorflow-macos") {
    AddQuoted(sink, "host.os.name", Entity::Host(), Value::Of(std::string("macos")), Source::kOs, line);
    if (name == "tensorflow-macos") Add(sink, "framework.tensorflow.version", Value::Of(package.version), line);
  } else if (StartsWith(name, "tensorflow")) {
    if (name != "tensorflow-directml-plugin") AddTensorFlow(sink, package, line);
  } else if (name == "jax") {
    Add(sink, "framework.jax.version", Value::Of(package.version), line);
  } else if (name == "jaxlib") {
    Add(sink, "framework.jaxlib.version", Value::Of(package.version), line);
  } else if (StartsWith(name, "jax-cuda") && Contains(name, "plugin")) {
    Add(sink, "framework.jax.cuda_plugin_version", Value::Of(package.version), line);
  } else if (name == "cudatoolkit") {
    AddQuoted(sink, "toolkit.versions", Entity::Host(), Value::Of(StringList{package.version}), Source::kOs, line);
  } else {
    return false;
  }
  return true;
}

}  // namespace gpuwhy::collect_env
