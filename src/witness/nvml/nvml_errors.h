// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_ERRORS_H_
#define GPUWHY_WITNESS_NVML_NVML_ERRORS_H_

#include <string>

#include "model/value.h"
#include "witness/nvml/nvml_abi.h"

namespace gpuwhy::nvml {

// What a return code of NVML says about a field.
State StateOf(Return code);

// One sentence for people, with the number: "NVML 18: the kernel module and the library are of different versions".
std::string Explain(Return code);

// What the user can do about a failed nvmlInit; "" when nothing certain helps.
std::string Advice(Return code);

// True for codes that stay for the life of the driver: asking again is a waste.
bool IsPermanent(Return code);

// The field without a value for a code other than kSuccess.
Value MissingFor(Return code);

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_ERRORS_H_
