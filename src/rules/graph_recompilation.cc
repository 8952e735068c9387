// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_graph_recompilation;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.dynamo.recompiles",
                                       "framework.tensorflow.train_function.traces", "run.steady.seconds"};

// torch.compile gives a frame up after 8 versions of it (torch._dynamo.config.recompile_limit); TensorFlow warns after
// 5 retraced calls (polymorphic_function).
constexpr int64_t kManyRecompiles = 8;
constexpr int64_t kManyTraces = 5;

std::optional<int64_t> Number(const RuleContext& context, const char* name) {
  const Fact* fact = MainFact(context, name);
  return fact != nullptr ? fact->value.AsInt() : std::nullopt;
}

struct Compilations {
  int64_t count = 0;
  double seconds = 0;
};

// Compilations that the framework reported inside the steady state (JAX).
Compilations InSteadyState(const RuleContext& context) {
  Compilations sum;
  if (!context.analysis.steady) return sum;
  for (const Span& span : context.evidence.spans()) {
    const double start_s = static_cast<double>(span.start_ns) * 1e-9;
    if (span.kind != SpanKind::kCompile || span.pid != context.analysis.main_pid) continue;
    if (start_s < context.analysis.steady->start_s || start_s > context.analysis.steady->end_s) continue;
    ++sum.count;
    sum.seconds += static_cast<double>(span.duration_ns) * 1e-9;
  }
  return sum;
}

// torch.compile: the time of all compilations less that of one round, of the whole run.
std::optional<Finding> FromDynamo(const RuleContext& context) {
  const std::optional<int64_t> again = Number(context, "framework.torch.dynamo.recompiles");
  if (!again || *again < kManyRecompiles) return std::nullopt;
  const Fact* seconds = MainFact(context, "framework.torch.dynamo.compile_seconds");
  const double spent = seconds != nullptr ? seconds->value.AsDouble().value_or(0) : 0;
  const double graphs =
      std::max<double>(1, static_cast<double>(Number(context, "framework.torch.dynamo.graphs").value_or(1)));
  const double wall = context.analysis.wall_s;
  Finding finding = MakeFinding(kRule_graph_recompilation, Severity::kWarning, kStated);
  if (wall > 0 && spent > 0) {
    const double lost = std::min(
        1.0, spent * std::min(1.0, static_cast<double>(*again) / (graphs + static_cast<double>(*again))) / wall);
    if (lost >= kShareInfo) finding = TimeFinding(kRule_graph_recompilation, lost, kTwoWitnesses);
  }
  finding.Param("how", "@recompile.dynamo").Param("count", std::to_string(*again));
  finding.Param("seconds", Format("{:.1f}", spent)).Param("share", ShowPercent(finding.share_of_time.value_or(0)));
  return finding;
}

RuleOutcome Check(const RuleContext& context) {
  const Compilations steady = InSteadyState(context);
  const std::optional<int64_t> traces = Number(context, "framework.tensorflow.train_function.traces");
  const std::optional<int64_t> again = Number(context, "framework.torch.dynamo.recompiles");
  const Fact* compiled = MainFact(context, "framework.torch.compile_used");
  const bool known = again || traces || steady.count > 0 ||
                     MainFact(context, "framework.jax.compilations") != nullptr ||
                     (compiled != nullptr && compiled->value.known());
  if (!known) return RuleOutcome::CannotTell({"framework.torch.dynamo.recompiles"});
  std::optional<Finding> finding = FromDynamo(context);
  if (!finding && steady.count >= 2 && steady.seconds / context.analysis.steady->seconds() >= kShareInfo) {
    finding = TimeFinding(kRule_graph_recompilation, std::min(1.0, steady.seconds / context.analysis.steady->seconds()),
                          kStated);
    finding->Param("how", "@recompile.spans").Param("count", std::to_string(steady.count));
  }
  if (!finding && traces && *traces >= kManyTraces) {
    finding = MakeFinding(kRule_graph_recompilation, Severity::kWarning, kStated);
    finding->Param("how", "@recompile.traces").Param("count", std::to_string(*traces));
  }
  if (!finding) return RuleOutcome::Clear();
  finding->explains = {"launch-bound-small-kernels", "python-host-bound"};
  for (const char* name :
       {"framework.torch.dynamo.recompiles", "framework.torch.dynamo.compile_seconds", "framework.torch.dynamo.graphs",
        "framework.tensorflow.train_function.traces", "framework.jax.compilations", "framework.jax.compile_seconds"})
    AddItem(*finding, MainFact(context, name));
  return RuleOutcome::Fired(std::move(*finding));
}

}  // namespace

extern constinit const Rule kRule_graph_recompilation{.id = "GW606",
                                                      .name = "graph-recompilation",
                                                      .since = "0.2",
                                                      .stage = Stage::kSpeed,
                                                      .needs = kNeeds,
                                                      .check = &Check};

}  // namespace gpuwhy::rules
