// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_ENGINE_H_
#define GPUWHY_ENGINE_ENGINE_H_

#include "model/evidence.h"
#include "model/report.h"

namespace gpuwhy {

// Runs ladder and rules over the evidence. Deterministic: no clock, no environment, no files.
Report Diagnose(const Evidence& evidence);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_ENGINE_H_
