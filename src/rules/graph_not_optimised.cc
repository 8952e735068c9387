// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_graph_not_optimised;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.compile_used", "framework.keras.jit_compile",
                                       "framework.tensorflow.run_eagerly"};

bool Is(const RuleContext& context, const char* name, bool value) {
  const Fact* fact = MainFact(context, name);
  return fact != nullptr && fact->value.AsBool() == value;
}

RuleOutcome Check(const RuleContext& context) {
  const Analysis& analysis = context.analysis;
  if (!analysis.breakdown || !analysis.window) return RuleOutcome::CannotTell({"window.seconds"});
  // A graph saves launches: where the GPU does not wait for these, it has nothing to save.
  if (analysis.breakdown->launch < kShareWarning) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_graph_not_optimised, Severity::kInfo, kOneWitness);
  finding.Param("share", ShowPercent(analysis.breakdown->launch));
  finding.share_of_time = analysis.breakdown->launch;
  const Fact* grappler = MainFact(context, "framework.tensorflow.grappler.disabled");
  const StringList off = grappler != nullptr ? grappler->value.AsList().value_or(StringList{}) : StringList{};
  const Fact* breaks = MainFact(context, "framework.torch.dynamo.graph_breaks");
  if (Is(context, "framework.tensorflow.run_eagerly", true)) {
    finding.Param("how", "@not_optimised.eager_tf");
  } else if (breaks != nullptr && breaks->value.AsInt().value_or(0) > 0) {
    const Fact* graphs = MainFact(context, "framework.torch.dynamo.graphs");
    finding.Param("how", graphs != nullptr ? "@not_optimised.breaks" : "@not_optimised.breaks_alone");
    finding.Param("breaks", breaks->value.Show());
    if (graphs != nullptr) finding.Param("graphs", graphs->value.Show());
  } else if (Is(context, "framework.torch.compile_used", false) && !Is(context, "cuda.graphs", true)) {
    finding.Param("how", "@not_optimised.eager_torch");
  } else if (!off.empty()) {
    finding.Param("how", "@not_optimised.grappler").Param("passes", Join(off, ", "));
  } else if (Is(context, "framework.keras.jit_compile", false)) {
    finding.Param("how", "@not_optimised.no_xla");
  } else {
    const bool known = MainFact(context, "framework.torch.compile_used") != nullptr ||
                       MainFact(context, "framework.keras.jit_compile") != nullptr;
    return known ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"framework.torch.compile_used"});
  }
  for (const char* name :
       {"framework.torch.compile_used", "framework.torch.dynamo.graph_breaks", "framework.torch.dynamo.graphs",
        "framework.keras.jit_compile", "framework.tensorflow.run_eagerly", "framework.tensorflow.grappler.disabled"})
    AddItem(finding, MainFact(context, name));
  AddItem(finding, MetricItem(analysis, "window.launches_per_second", Source::kCuda));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_graph_not_optimised{.id = "GW703",
                                                      .name = "graph-not-optimised",
                                                      .since = "0.2",
                                                      .stage = Stage::kSpeed,
                                                      .needs = kNeeds,
                                                      .check = &Check};

}  // namespace gpuwhy::rules
