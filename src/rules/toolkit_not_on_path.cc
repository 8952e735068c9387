// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_toolkit_not_on_path;

namespace {

constexpr std::string_view kNeeds[] = {"toolkit.installed", "toolkit.nvcc.on_path"};

// Where a toolkit lies by default: the text does not say whether there is one.
constexpr const char* kUsualFolder = "/usr/local/cuda";

RuleOutcome Check(const RuleContext& context) {
  if (const Fact* said = Said(context.evidence, "nvcc_not_found")) {
    Finding finding = MakeFinding(kRule_toolkit_not_on_path, Severity::kInfo, kStated);
    finding.Param("folder", kUsualFolder).Param("seen", "@toolkit.unseen");
    AddItem(finding, said);
    return RuleOutcome::Fired(std::move(finding));
  }
  if (FromText(context.evidence)) return RuleOutcome::Clear();
  const Fact* installed = context.evidence.Find("toolkit.installed");
  const Fact* on_path = context.evidence.Find("toolkit.nvcc.on_path");
  if (installed == nullptr || !installed->value.known() || on_path == nullptr || !on_path->value.known())
    return RuleOutcome::CannotTell({"toolkit.installed", "toolkit.nvcc.on_path"});
  const StringList folders = installed->value.AsList().value_or(StringList{});
  if (folders.empty() || on_path->value.AsBool() == true) return RuleOutcome::Clear();
  // Wheels bring their own CUDA: no framework needs nvcc to run, so this never decides a verdict.
  Finding finding = MakeFinding(kRule_toolkit_not_on_path, Severity::kInfo, kStated);
  finding.Param("folder", folders.back()).Param("seen", folders.back());
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
