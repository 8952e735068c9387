// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/listed_gpu.h"
#include "reader/nvidia_smi/table.h"

namespace gpuwhy {
namespace {

// `nvidia-smi -L` in the same text tells which GPU a UUID is, also that of a MIG device.
void LearnNames(const PastedText& text, nvidia_smi::GpuNames& names) {
  std::optional<long long> gpu;
  for (const TextLine& line : text.lines()) {
    for (const ListedGpu& entry : ParseListedGpus(line.text)) {
      if (entry.index) gpu = entry.index;
      if (gpu) names.Learn(entry.uuid, *gpu);
    }
  }
}

void Read(PastedText& text, EvidenceSink& sink) {
  GpuReadings readings(text, sink);
  nvidia_smi::GpuNames names;
  LearnNames(text, names);
  nvidia_smi::ReadTables(text, sink, readings, names);
  nvidia_smi::ReadQueries(text, sink, readings, names);
}

}  // namespace

extern const ReaderInfo kReader_nvidia_smi;
constinit const ReaderInfo kReader_nvidia_smi{.name = "nvidia_smi", .read = &Read};

}  // namespace gpuwhy
