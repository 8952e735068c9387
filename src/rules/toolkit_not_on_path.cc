// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_toolkit_not_on_path;

namespace {

constexpr std::string_view kNeeds[] = {"toolkit.installed", "toolkit.nvcc.on_path"};

RuleOutcome Check(const RuleContext& context) {
  const Fact* installed = context.evidence.Find("toolkit.installed");
  const Fact* on_path = context.evidence.Find("toolkit.nvcc.on_path");
  if (installed == nullptr || !installed->value.known() || on_path == nullptr || !on_path->value.known())
    return RuleOutcome::CannotTell({"toolkit.installed", "toolkit.nvcc.on_path"});
  const StringList folders = installed->value.AsList().value_or(StringList{});
  if (folders.empty() || on_path->value.AsBool() == true) return RuleOutcome::Clear();
  // Wheels bring their own CUDA: no framework needs nvcc to run, so this never decides a verdict.
  Finding finding = MakeFinding(kRule_toolkit_not_on_path, Severity::kInfo, kStated);
  finding.Param("folder", folders.back());
  AddItem(finding, installed);
  AddItem(finding, on_path);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_toolkit_not_on_path{.id = "GW108",
                                                      .name = "toolkit-not-on-path",
                                                      .since = "0.1",
                                                      .stage = Stage::kNote,
                                                      .needs = kNeeds,
                                                      .check = &Check};

}  // namespace gpuwhy::rules
