// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "base/text.h"
#include "reader/reader.h"
#include "reader/smi_list/topology.h"
#include "reader/words.h"

// `nvidia-smi -L`: "GPU 0: NVIDIA A100 (UUID: GPU-...)", and below a GPU that is split "MIG 3g.20gb Device 0: (UUID:
// MIG-...)".
namespace gpuwhy {
namespace {

constexpr long long kMostGpus = 1024;

class List {
 public:
  List(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      // Lists that lost their line ends have many of them in one line.
      std::string_view line = text_[at_];
      for (size_t end = line.find("(UUID: "); end != std::string_view::npos; end = line.find("(UUID: ")) {
        const std::string_view rest = line.substr(end + 7);
        const size_t close = rest.find(')');
        if (close == std::string_view::npos) break;
        Entry(Trim(line.substr(0, end)), rest.substr(0, close));
        line = rest.substr(close + 1);
      }
    }
  }

 private:
  // What stands in front of "(UUID: ...)".
  void Entry(std::string_view head, std::string_view uuid) {
    if (StartsWith(uuid, "MIG-")) return Instance(head, uuid);
    // The last "GPU n:" of the line: a prompt may stand in front.
    for (size_t at = head.rfind("GPU "); at != std::string_view::npos;
         at = at > 0 ? head.rfind("GPU ", at - 1) : head.npos) {
      const std::string_view rest = head.substr(at + 4);
      const size_t colon = rest.find(": ");
      const std::optional<long long> index =
          colon != std::string_view::npos ? ParseInt(rest.substr(0, colon)) : std::nullopt;
      if (index && *index >= 0 && *index <= kMostGpus) return Gpu(*index, Trim(rest.substr(colon + 2)), uuid);
    }
  }

  void Put(const char* name, Value value) {
    AddQuoted(sink_, name, TextGpu(gpu_), std::move(value), Source::kDevice, text_.lines()[at_]);
    text_.Claim(at_);
  }

  void Gpu(long long index, std::string_view name, std::string_view uuid) {
    if (name.empty()) return;
    gpu_ = index;
    instances_.clear();
    Put("gpu.index", Value::Of(static_cast<int64_t>(index)));
    Put("gpu.name", Value::Of(std::string(name)));
    if (StartsWith(uuid, "GPU-")) Put("gpu.uuid", Value::Of(std::string(uuid)));
  }

  // Of the GPU above it.
  void Instance(std::string_view head, std::string_view uuid) {
    const size_t begin = head.rfind("MIG ");
    const std::string_view profile =
        begin == std::string_view::npos ? std::string_view() : Trim(head.substr(begin + 4));
    if (gpu_ < 0 || profile.find("Device") == std::string_view::npos) return;
    instances_.push_back(std::string(profile.substr(0, profile.find(' '))) + " " + std::string(uuid));
    Put("gpu.mig.mode", Value::Of(true));
    Put("gpu.mig.instances", Value::Of(instances_));
  }

  PastedText& text_;
  EvidenceSink& sink_;
  size_t at_ = 0;
  long long gpu_ = -1;
  StringList instances_;
};

void ReadList(PastedText& text, EvidenceSink& sink) {
  List(text, sink).Read();
  smi_list::ReadTopology(text, sink);
}

}  // namespace

extern const ReaderInfo kReader_smi_list;
constinit const ReaderInfo kReader_smi_list{"smi_list", &ReadList};

}  // namespace gpuwhy
