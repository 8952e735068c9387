// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/reader.h"
#include "reader/smi_query/logs.h"

// Full queries of nvidia-smi, as text and as XML.
namespace gpuwhy {
namespace {

void ReadQuery(PastedText& text, EvidenceSink& sink) {
  smi_query::ReadTextLog(text, sink);
  smi_query::ReadXmlLog(text, sink);
}

}  // namespace

extern const ReaderInfo kReader_smi_query;
constinit const ReaderInfo kReader_smi_query{"smi_query", &ReadQuery};

}  // namespace gpuwhy
