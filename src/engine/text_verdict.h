// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_TEXT_VERDICT_H_
#define GPUWHY_ENGINE_TEXT_VERDICT_H_

#include "engine/rule.h"

namespace gpuwhy {

// Verdict of a pasted text from the findings in `report` (sorted here) and what its rungs say. The order in which
// findings decide: an obstacle that the text proves, a part of the work that is missing, use; see docs/explain.md.
void JudgeText(const RuleContext& context, Report& report);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_TEXT_VERDICT_H_
