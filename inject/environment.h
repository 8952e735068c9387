// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_INJECT_ENVIRONMENT_H_
#define GPUWHY_INJECT_ENVIRONMENT_H_

#include "inject/text.h"

namespace gpuwhy::inject {

enum class TraceMode { kOff, kWindow, kPermanent };

TraceMode TraceModeFromEnvironment();

// Name and proof of another CUDA tool that was set up for this process; empty if there is none.
struct OtherTool {
  Text<80> name;
  Text<200> sign;
};
OtherTool FindOtherTool();

}  // namespace gpuwhy::inject
#endif  // GPUWHY_INJECT_ENVIRONMENT_H_
