// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_uvm_broken_after_suspend;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.cuda_error", "host.driver.suspended", "log.suspended"};

// CUDA error 999 with a driver that otherwise answers: the unified-memory module did not survive the suspend.
const Fact* UnknownError(const RuleContext& context) {
  for (const char* id : {"torch_unknown_error", "cuda_unknown"}) {
    if (const Fact* said = Said(context.evidence, id)) return said;
  }
  const Fact* error = MainFact(context, "framework.torch.cuda_error");
  const std::string text = error != nullptr ? error->value.AsText().value_or("") : "";
  return Contains(text, "CUDA unknown error") || Contains(text, "CUDA_ERROR_UNKNOWN") ? error : nullptr;
}

// "never suspended", "no suspend involved": the word alone is no suspend.
bool Denied(const Fact& fact) {
  const std::string line = Lower(fact.quote);
  for (const char* word : {"never suspend", "no suspend", "not suspend", "n't suspend", "without suspend",
                           "not been suspend", "never been suspend", "never hibernat", "no hibernat", "never sleeps"}) {
    if (Contains(line, word)) return true;
  }
  return false;
}

RuleOutcome Check(const RuleContext& context) {
  const Fact* error = UnknownError(context);
  const Fact* suspended = Said(context.evidence, "suspended");
  if (suspended != nullptr && Denied(*suspended)) suspended = nullptr;
  if (suspended == nullptr && context.evidence.Bool("host.driver.suspended") == true)
    suspended = context.evidence.Find("host.driver.suspended");
  if (error == nullptr) return RuleOutcome::Clear();
  // The same error has other causes: without a word of a suspend nothing is claimed.
  if (suspended == nullptr) return RuleOutcome::CannotTell({"log.suspended", "host.driver.suspended"});
  Finding finding = MakeFinding(kRule_uvm_broken_after_suspend, Severity::kError, kTwoWitnesses);
  finding.implies = GpuUsed::kNo;
  AddItem(finding, error);
  AddItem(finding, suspended);
  AddItem(finding, context.evidence.Find("driver.version"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_uvm_broken_after_suspend{.id = "GW207",
                                                           .name = "uvm-broken-after-suspend",
                                                           .since = "0.1",
                                                           .stage = Stage::kDriver,
                                                           .needs = kNeeds,
                                                           .check = &Check};

}  // namespace gpuwhy::rules
