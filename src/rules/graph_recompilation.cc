// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "engine/intervals.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_graph_recompilation;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.dynamo.given_up",
                                       "framework.torch.dynamo.recompiles_of_one_frame",
                                       "framework.tensorflow.train_function.traces",
                                       "framework.tensorflow.retraced_functions", "framework.jax.compilations"};

// torch.compile gives a frame up after 8 versions of it (torch._dynamo.config.recompile_limit); TensorFlow warns after
// 5 retraced calls (polymorphic_function).
constexpr int64_t kManyRecompiles = 7;  // beyond the first
constexpr int64_t kManyTraces = 5;
// Again and again: in at least three quarters of the time that was looked at. The first evaluation and the last,
// smaller batch of an epoch compile too, but once.
constexpr uint64_t kFewestCompilations = 4;
constexpr int kQuarters = 4, kFewestQuarters = 3;
constexpr double kFewestSeconds = 5;
constexpr uint32_t kTracing = 1, kLowering = 2;  // stages of one compilation, see Span

std::optional<int64_t> Number(const RuleContext& context, const char* name) {
  const Fact* fact = MainFact(context, name);
  return fact != nullptr ? fact->value.AsInt() : std::nullopt;
}

// Where compilations are no part of a start any more: the steady state; of a job without steps (JAX) the second half.
Interval Settled(const Analysis& analysis) {
  const double from = analysis.steady ? analysis.steady->start_s : analysis.wall_s / 2;
  const double to = analysis.steady ? analysis.steady->end_s : analysis.wall_s;
  return {static_cast<int64_t>(from * 1e9), static_cast<int64_t>(to * 1e9)};
}

// Compilations that the framework told one by one (torch.compile, JAX).
struct Compilations {
  bool told = false;   // at any time of the run
  uint64_t count = 0;  // in the settled part
  double seconds = 0;  // the union of their times there
  double whole_s = 0;  // its length
  int quarters = 0;    // of it that a compilation began in
  double share() const { return whole_s > 0 ? std::min(1.0, seconds / whole_s) : 0; }
};

Compilations Told(const RuleContext& context) {
  Compilations told;
  const Interval settled = Settled(context.analysis);
  std::vector<Interval> times;
  bool seen[kQuarters] = {};
  for (const Span& span : context.evidence.spans()) {
    if (span.kind != SpanKind::kCompile || span.pid != context.analysis.main_pid) continue;
    told.told = true;
    times.push_back({span.start_ns, span.end_ns()});
    if (span.start_ns < settled.begin || span.start_ns >= settled.end) continue;
    if (span.detail[0] == kTracing || span.detail[0] == kLowering) continue;
    ++told.count;
    const double place = static_cast<double>(span.start_ns - settled.begin);
    const auto quarter = static_cast<int>(kQuarters * place / static_cast<double>(settled.end - settled.begin));
    seen[std::clamp(quarter, 0, kQuarters - 1)] = true;
  }
  told.quarters = static_cast<int>(std::count(std::begin(seen), std::end(seen), true));
  if (settled.end <= settled.begin) return told;
  const Intervals whole = {settled};
  told.whole_s = Seconds(whole);
  told.seconds = Seconds(Intersect(Union(std::move(times)), whole));
  return told;
}

std::optional<Finding> FromTold(const Compilations& told) {
  const bool again = told.count >= kFewestCompilations && told.quarters >= kFewestQuarters;
  if (!again || told.whole_s < kFewestSeconds || told.share() < kShareInfo) return std::nullopt;
  Finding finding = TimeFinding(kRule_graph_recompilation, told.share(), kStated);
  finding.Param("how", "@recompile.spans").Param("count", std::to_string(told.count));
  AddItem(finding, Item("settled.compilations.count", static_cast<double>(told.count), Source::kFramework));
  AddItem(finding, Item("settled.compile.seconds", told.seconds, Source::kFramework));
  return finding;
}

// An older torch tells no times of its own: the time of all compilations, shared out by their number, of the whole run.
std::optional<Finding> FromCounters(const RuleContext& context) {
  const std::optional<int64_t> again = Number(context, "framework.torch.dynamo.recompiles");
  const std::optional<int64_t> most = Number(context, "framework.torch.dynamo.recompiles_of_one_frame");
  if (!again || !most || *most < kManyRecompiles) return std::nullopt;
  const Fact* seconds = MainFact(context, "framework.torch.dynamo.compile_seconds");
  const double spent = seconds != nullptr ? seconds->value.AsDouble().value_or(0) : 0;
  const double frames =
      static_cast<double>(std::max<int64_t>(1, Number(context, "framework.torch.dynamo.frames").value_or(1)));
  const double wall = context.analysis.wall_s;
  const double lost =
      wall > 0
          ? spent * std::min(1.0, static_cast<double>(*again) / std::max(frames, static_cast<double>(*again))) / wall
          : 0;
  if (lost < kShareInfo) return std::nullopt;
  Finding finding = TimeFinding(kRule_graph_recompilation, std::min(1.0, lost), kOneWitness);
  finding.Param("how", "@recompile.dynamo").Param("count", std::to_string(*again));
  finding.Param("seconds", Format("{:.1f}", spent));
  return finding;
}

std::optional<Finding> Stated(const char* how, Severity severity, const char* name, const std::string& value) {
  Finding finding = MakeFinding(kRule_graph_recompilation, severity, kStated);
  finding.Param("how", how).Param(name, value);
  return finding;
}

// What a framework says of itself, without a time: frames that got no further version, functions traced anew.
std::optional<Finding> FromStatements(const RuleContext& context) {
  if (const std::optional<int64_t> given_up = Number(context, "framework.torch.dynamo.given_up");
      given_up && *given_up > 0)
    return Stated("@recompile.given_up", Severity::kWarning, "count", std::to_string(*given_up));
  if (const std::optional<int64_t> traces = Number(context, "framework.tensorflow.train_function.traces");
      traces && *traces >= kManyTraces)
    return Stated("@recompile.traces", Severity::kWarning, "count", std::to_string(*traces));
  const Fact* retraced = MainFact(context, "framework.tensorflow.retraced_functions");
  const StringList names = retraced != nullptr ? retraced->value.AsList().value_or(StringList{}) : StringList{};
  if (names.empty()) return std::nullopt;
  return Stated("@recompile.retraced", Severity::kInfo, "functions", Join(names, ", "));  // what it costs is not known
}

// Did anything that compiles say anything?
bool Known(const RuleContext& context) {
  for (const char* name : {"framework.torch.compile_used", "framework.tensorflow.train_function.traces",
                           "framework.tensorflow.retraced_functions", "framework.jax.compilations"}) {
    const Fact* fact = MainFact(context, name);
    if (fact != nullptr && fact->value.known()) return true;
  }
  return false;
}

RuleOutcome Check(const RuleContext& context) {
  const Compilations told = Told(context);
  if (!told.told && !Known(context)) return RuleOutcome::CannotTell({"framework.torch.dynamo.given_up"});
  std::optional<Finding> finding = FromTold(told);
  if (!finding) finding = FromStatements(context);
  if (!finding && !told.told) finding = FromCounters(context);
  if (!finding) return RuleOutcome::Clear();
  finding->explains = {"launch-bound-small-kernels", "python-host-bound"};
  for (const char* name :
       {"framework.torch.dynamo.given_up", "framework.torch.dynamo.recompiles",
        "framework.torch.dynamo.compile_seconds", "framework.tensorflow.train_function.traces",
        "framework.tensorflow.retraced_functions", "framework.jax.compilations", "framework.jax.compile_seconds"})
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
