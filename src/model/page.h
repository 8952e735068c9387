// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_MODEL_PAGE_H_
#define GPUWHY_MODEL_PAGE_H_

#include <span>
#include <string_view>

namespace gpuwhy {

// Texts of a rule, generated from docs/rules/GWnnn-name.md. {{name}} stands for a parameter of the finding.
struct PageFix {
  std::string_view framework;  // pytorch, tensorflow, jax or any
  std::string_view text;
  std::string_view code;
};

struct PageText {
  std::string_view title, summary, next, about;
  std::span<const PageFix> fixes;
};

struct RulePage {
  std::string_view id, name;
  PageText en, zh;
};

std::span<const RulePage> RulePages();

}  // namespace gpuwhy

#endif  // GPUWHY_MODEL_PAGE_H_
