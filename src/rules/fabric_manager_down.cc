// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_fabric_manager_down;

namespace {

constexpr std::string_view kNeeds[] = {"log.cuda_system_not_ready", "framework.torch.cuda_error"};

// cudaErrorSystemNotReady (802): on NVSwitch machines the fabric manager has to start first.
const Fact* NotReady(const RuleContext& context) {
  if (const Fact* said = Said(context.evidence, "cuda_system_not_ready")) return said;
  for (const char* name : {"framework.torch.cuda_error", "framework.python.exception"}) {
    const Fact* fact = MainFact(context, name);
    const std::string text = fact != nullptr ? fact->value.AsText().value_or("") : "";
    if (Contains(text, "system not yet initialized") || Contains(text, "Error 802")) return fact;
  }
  // Its own log says that it gave up, and the framework finds nothing.
  if (context.ladder.gpu_used != GpuUsed::kNo) return nullptr;
  for (const char* id : {"fabric_mismatch", "fabric_failed"}) {
    if (const Fact* said = Said(context.evidence, id)) return said;
  }
  return nullptr;
}

RuleOutcome Check(const RuleContext& context) {
  const Fact* error = NotReady(context);
  if (error == nullptr) {
    const bool spoke =
        context.ladder.rung(Source::kFramework).state == "ok" || context.ladder.rung(Source::kCuda).state == "ok";
    return spoke ? RuleOutcome::Clear()
                 : RuleOutcome::CannotTell({"framework.torch.cuda_error", "log.cuda_system_not_ready"});
  }
  Finding finding = MakeFinding(kRule_fabric_manager_down, Severity::kError, kStated);
  finding.implies = GpuUsed::kNo;
  const std::string driver = context.evidence.Text("driver.version")
                                 .value_or(context.evidence.Text("host.driver.version")
                                               .value_or(FirstCaptured(context.evidence, "fabric_mismatch", "driver")));
  finding.Param("branch", driver.empty() ? "NNN" : driver.substr(0, driver.find('.')));
  AddItem(finding, error);
  for (const Fact* fact : {Said(context.evidence, "fabric_mismatch"), Said(context.evidence, "fabric_failed"),
                           context.evidence.Find("driver.version")})
    AddLine(finding, fact);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_fabric_manager_down{.id = "GW209",
                                                      .name = "fabric-manager-down",
                                                      .since = "0.1",
                                                      .stage = Stage::kDriver,
                                                      .needs = kNeeds,
                                                      .check = &Check};

}  // namespace gpuwhy::rules
