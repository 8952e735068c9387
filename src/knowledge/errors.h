// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_KNOWLEDGE_ERRORS_H_
#define GPUWHY_KNOWLEDGE_ERRORS_H_

#include "knowledge/tables.h"

// Numbers of CUDA errors and of Xid messages (cuda_errors.tsv, xid.tsv).
namespace gpuwhy::knowledge {

// nullptr when the table does not know the number.
const CudaError* FindCudaError(int number);
const Xid* FindXid(int number);

}  // namespace gpuwhy::knowledge

#endif  // GPUWHY_KNOWLEDGE_ERRORS_H_
