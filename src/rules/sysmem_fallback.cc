// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/out_of_memory.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_sysmem_fallback;

namespace {

constexpr std::string_view kNeeds[] = {"log.windows_dedicated_memory", "log.windows_shared_memory"};

constexpr double kGibibyte = 1073741824;
constexpr double kFull = 0.9;                 // of the dedicated memory
constexpr double kSpilled = 1.0 * kGibibyte;  // a desktop and pinned buffers share less

std::optional<double> InGibibytes(const std::string& number) {
  const std::optional<double> value = ParseDouble(number);
  return value ? std::optional<double>(*value * kGibibyte) : std::nullopt;
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact *dedicated = Said(evidence, "windows_dedicated_memory"), *shared = Said(evidence, "windows_shared_memory");
  const StringList used = Captured(evidence, "windows_dedicated_memory", "used");
  const StringList spilled = Captured(evidence, "windows_shared_memory", "used");
  const std::optional<double> total = InGibibytes(FirstCaptured(evidence, "windows_dedicated_memory", "total"));
  if (dedicated == nullptr || shared == nullptr || used.empty() || spilled.empty() || !total || *total <= 0)
    return RuleOutcome::CannotTell({"log.windows_dedicated_memory", "log.windows_shared_memory"});
  const double held = InGibibytes(used.back()).value_or(0);
  const double first = InGibibytes(spilled.front()).value_or(0), last = InGibibytes(spilled.back()).value_or(0);
  if (held < kFull * *total || last < kSpilled) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_sysmem_fallback, Severity::kWarning, last > first ? kTwoWitnesses : kOneWitness);
  finding.implies = GpuUsed::kYes;
  finding.Param("used", ShowBytes(held)).Param("total", ShowBytes(*total)).Param("shared", ShowBytes(last));
  AddItem(finding, dedicated);
  AddItem(finding, shared);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_sysmem_fallback{.id = "GW804",
                                                  .name = "sysmem-fallback",
                                                  .since = "0.1",
                                                  .stage = Stage::kMemory,
                                                  .needs = kNeeds,
                                                  .check = &Check};

}  // namespace gpuwhy::rules
