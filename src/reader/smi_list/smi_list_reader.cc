// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "reader/listed_gpu.h"
#include "reader/reader.h"
#include "reader/smi_list/topology.h"
#include "reader/words.h"

// `nvidia-smi -L`: GPUs, and below a GPU that is split its MIG devices.
namespace gpuwhy {
namespace {

class List {
 public:
  List(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      for (const ListedGpu& entry : ParseListedGpus(text_[at_])) entry.index ? Gpu(entry) : Instance(entry);
    }
    End();
  }

 private:
  void Put(const char* name, Value value, size_t line) {
    AddQuoted(sink_, name, TextGpu(gpu_), std::move(value), Source::kDevice, text_.lines()[line]);
    text_.Claim(line);
  }

  // The devices of a GPU follow it at once, so what has none has none. Of a GPU without MIG that says nothing.
  void End() {
    if (gpu_ >= 0) Put("gpu.mig.none_listed", Value::Of(instances_.empty()), line_);
  }

  void Gpu(const ListedGpu& entry) {
    if (entry.name.empty()) return;
    End();
    gpu_ = *entry.index;
    line_ = at_;
    instances_.clear();
    Put("gpu.index", Value::Of(static_cast<int64_t>(gpu_)), at_);
    Put("gpu.name", Value::Of(std::string(entry.name)), at_);
    if (StartsWith(entry.uuid, "GPU-")) Put("gpu.uuid", Value::Of(std::string(entry.uuid)), at_);
  }

  // Of the GPU above it.
  void Instance(const ListedGpu& entry) {
    if (gpu_ < 0) return;
    instances_.push_back(std::string(entry.name) + " " + std::string(entry.uuid));
    Put("gpu.mig.mode", Value::Of(true), at_);
    Put("gpu.mig.instances", Value::Of(instances_), at_);
  }

  PastedText& text_;
  EvidenceSink& sink_;
  size_t at_ = 0, line_ = 0;
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
