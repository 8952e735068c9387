// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_SMI_QUERY_LOGS_H_
#define GPUWHY_READER_SMI_QUERY_LOGS_H_

#include "reader/reader.h"

namespace gpuwhy::smi_query {

// `nvidia-smi -q`, also with -d; indentation may be lost.
void ReadTextLog(PastedText& text, EvidenceSink& sink);

// `nvidia-smi -q -x`; a scanner of tags that bears cut off and joined lines.
void ReadXmlLog(PastedText& text, EvidenceSink& sink);

}  // namespace gpuwhy::smi_query

#endif  // GPUWHY_READER_SMI_QUERY_LOGS_H_
