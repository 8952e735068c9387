// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_debug_mode_on;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.grad_anomaly", "process.env.CUDA_LAUNCH_BLOCKING"};

// A switch for finding errors that makes every operation slower, and where its documentation says so.
struct Switch {
  const char* fact;
  const char* name;  // as a user writes it
};
constexpr Switch kFlags[] = {{"framework.torch.grad_anomaly", "torch.autograd.set_detect_anomaly(True)"},
                             {"framework.tensorflow.run_eagerly", "run_eagerly=True"}};
constexpr Switch kVariables[] = {{"process.env.CUDA_LAUNCH_BLOCKING", "CUDA_LAUNCH_BLOCKING=1"},
                                 {"process.env.PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_CUDA_MEMORY_CACHING=1"},
                                 {"process.env.JAX_DISABLE_JIT", "JAX_DISABLE_JIT=1"},
                                 {"process.env.JAX_DEBUG_NANS", "JAX_DEBUG_NANS=1"}};

// "1", "true", "yes", "on": what CUDA, PyTorch and JAX take as set. PyTorch takes any text for its own variable, but an
// empty one or "0" is nobody's wish to switch it on.
bool IsOn(const Fact* fact) {
  if (fact == nullptr || !fact->value.known()) return false;
  const std::string text = Lower(fact->value.AsText().value_or(fact->value.Show()));
  return !text.empty() && text != "0" && text != "false" && text != "off" && text != "no";
}

RuleOutcome Check(const RuleContext& context) {
  std::vector<std::string> names;
  std::vector<const Fact*> facts;
  bool known = false;
  for (const Switch& flag : kFlags) {
    const Fact* fact = MainFact(context, flag.fact);
    known = known || (fact != nullptr && fact->value.known());
    if (fact != nullptr && fact->value.AsBool() == true) names.emplace_back(flag.name), facts.push_back(fact);
  }
  for (const Switch& variable : kVariables) {
    const Fact* fact = MainFact(context, variable.fact);
    known = known || MainFact(context, "process.env") != nullptr || fact != nullptr;
    if (IsOn(fact)) names.emplace_back(variable.name), facts.push_back(fact);
  }
  if (names.empty()) return known ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"framework.torch.grad_anomaly"});
  // In a text the switch stands there because somebody looks for an error, as the framework's own message advises.
  Finding finding =
      MakeFinding(kRule_debug_mode_on, FromText(context.evidence) ? Severity::kInfo : Severity::kWarning, kStated);
  finding.explains = {"launch-bound-small-kernels", "python-host-bound", "frequent-sync", "small-batch",
                      "graph-not-optimised"};
  finding.Param("switches", Join(names, ", "));
  for (const Fact* fact : facts) AddItem(finding, fact);
  AddItem(finding, MetricItem(context.analysis, "run.gpu_busy.ratio", Source::kCuda));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_debug_mode_on{
    .id = "GW604", .name = "debug-mode-on", .since = "0.2", .stage = Stage::kSpeed, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
