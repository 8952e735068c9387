// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/table.h"

namespace gpuwhy {
namespace {

void Read(PastedText& text, EvidenceSink& sink) {
  GpuReadings readings(text, sink);
  nvidia_smi::GpuNames names;
  nvidia_smi::ReadTables(text, sink, readings, names);
  nvidia_smi::ReadQueries(text, sink, readings, names);
}

}  // namespace

extern const ReaderInfo kReader_nvidia_smi;
constinit const ReaderInfo kReader_nvidia_smi{.name = "nvidia_smi", .read = &Read};

}  // namespace gpuwhy
