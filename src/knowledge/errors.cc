// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "knowledge/errors.h"

namespace gpuwhy::knowledge {
namespace {

template <typename Row>
const Row* FindNumber(std::span<const Row> rows, int number) {
  for (const Row& row : rows) {
    if (row.number == number) return &row;
  }
  return nullptr;
}

}  // namespace

const CudaError* FindCudaError(int number) { return FindNumber(CudaErrors(), number); }

const Xid* FindXid(int number) { return FindNumber(Xids(), number); }

}  // namespace gpuwhy::knowledge
