// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/smi_list/topology.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/words.h"

namespace gpuwhy::smi_list {
namespace {

constexpr size_t kMostColumns = 256;
constexpr long long kMostGpus = 1024;

// "GPU3" -> 3
std::optional<long long> GpuOf(std::string_view word) {
  if (!StartsWith(word, "GPU") || word.size() < 4) return std::nullopt;
  const std::optional<long long> index = ParseInt(word.substr(3));
  return index && *index >= 0 && *index <= kMostGpus ? index : std::nullopt;
}

// The legend below the matrix; SOC is SYS of drivers before 390.
bool IsLink(std::string_view cell) {
  for (const std::string_view name : {"X", "SYS", "NODE", "PHB", "PXB", "PIX", "PSB", "SOC", "OK", "NS"}) {
    if (cell == name) return true;
  }
  return StartsWith(cell, "NV") && cell.size() > 2 && ParseInt(cell.substr(2)).has_value();
}

// "0-31,64-95"
bool IsAffinity(std::string_view cell) {
  return !cell.empty() && cell[0] >= '0' && cell[0] <= '9' &&
         cell.find_first_not_of("0123456789,-") == std::string_view::npos;
}

class Matrix {
 public:
  Matrix(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const std::string_view line = Trim(text_[i]);
      if (line.size() < 4 || line[3] < '0' || line[3] > '9' || !StartsWith(line, "GPU")) continue;
      const std::vector<std::string_view> words = Words(line);
      if (words.size() > 1 && IsHeader(words)) {
        Header(words, i);
      } else if (!columns_.empty()) {
        Row(words, i);
      }
    }
  }

 private:
  // Names of devices up to "CPU Affinity": GPUs first, then adapters of the network.
  static bool IsHeader(const std::vector<std::string_view>& words) {
    const auto affinity = std::find(words.begin(), words.end(), "CPU");
    const bool titled = affinity != words.end() && affinity + 1 != words.end() && StartsWith(affinity[1], "Affinity");
    return titled && words.size() <= kMostColumns && GpuOf(words[0]) && !IsLink(words[1]);
  }

  void Header(const std::vector<std::string_view>& words, size_t i) {
    columns_.assign(words.begin(), std::find(words.begin(), words.end(), "CPU"));
    const auto numa = std::find(words.begin(), words.end(), "NUMA");
    numa_ = numa != words.end() && numa + 1 != words.end() && numa[1] == "Affinity";
    text_.Claim(i);
  }

  void Row(const std::vector<std::string_view>& words, size_t i) {
    const std::optional<long long> gpu = GpuOf(words[0]);
    if (!gpu || std::find(columns_.begin(), columns_.end(), words[0]) == columns_.end()) return;
    if (words.size() < 2 || !IsLink(words[1])) return;  // a sentence
    const size_t cells = columns_.size();
    if (words.size() <= cells || !std::all_of(words.begin() + 1, words.begin() + 1 + std::ssize(columns_), IsLink))
      return AddRowGap(sink_, "nvidia-smi topo", text_.lines()[i]);
    for (size_t at = 0; at < cells; ++at) {
      const std::optional<long long> other = GpuOf(columns_[at]);
      if (!other || *other == *gpu) continue;
      Put(*gpu, "gpu.topology.#" + std::to_string(*other), Value::Of(std::string(words[at + 1])), i);
    }
    text_.Claim(i);
    // An empty column leaves nothing behind that splitting on blanks could see, so a node counts only behind its cores.
    if (words.size() <= cells + 1 || !IsAffinity(words[cells + 1])) return;
    Put(*gpu, "gpu.cpu_affinity", Value::Of(std::string(words[cells + 1])), i);
    const auto node = numa_ && words.size() > cells + 2 ? ParseInt(words[cells + 2]) : std::nullopt;
    if (node && *node >= 0) Put(*gpu, "gpu.numa_node", Value::Of(static_cast<int64_t>(*node)), i);
  }

  void Put(long long gpu, std::string name, Value value, size_t i) {
    AddQuoted(sink_, std::move(name), TextGpu(gpu), std::move(value), Source::kDriver, text_.lines()[i]);
  }

  PastedText& text_;
  EvidenceSink& sink_;
  std::vector<std::string_view> columns_;
  bool numa_ = false;
};

}  // namespace

void ReadTopology(PastedText& text, EvidenceSink& sink) { Matrix(text, sink).Read(); }

}  // namespace gpuwhy::smi_list
