// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/format.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_worker_restart_each_epoch;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.loader.0.iterators", "framework.torch.loader.0.start_seconds",
                                       "run.wall.seconds"};

constexpr int64_t kFewestStarts = 3;  // the first one cannot be avoided, two tell nothing of a rhythm

struct Loader {
  double lost_s = 0;
  int64_t starts = 0, workers = 0;
  std::string prefix;
};

// Time that one loader's restarts took: making the iterator (workers start), and waiting for its first batch longer
// than for any other.
std::optional<Loader> LoaderLoss(const RuleContext& context, const std::string& prefix) {
  const auto number = [&](const char* name) -> std::optional<double> {
    const Fact* fact = MainFact(context, prefix + name);
    return fact != nullptr ? fact->value.AsDouble() : std::nullopt;
  };
  const std::optional<double> workers = number("workers"), starts = number("iterators"),
                              start_s = number("start_seconds");
  if (!workers || !starts || !start_s) return std::nullopt;
  const Fact* persistent = MainFact(context, prefix + "persistent_workers");
  Loader loader{0, static_cast<int64_t>(*starts), static_cast<int64_t>(*workers), prefix};
  if (loader.workers <= 0 || loader.starts < kFewestStarts) return loader;
  if (persistent != nullptr && persistent->value.AsBool() == true) return loader;
  // A first batch has to be loaded in any case: counted is only what it takes beyond an ordinary one. Where nobody
  // added up the ordinary waits, only making the iterators is counted.
  const double batches = number("batches").value_or(0), first_s = number("first_wait_seconds").value_or(0);
  const std::optional<double> all_s = number("wait_seconds");
  double beyond_s = 0;
  if (all_s && batches > *starts && *all_s >= first_s)
    beyond_s = std::max(0.0, first_s - (*all_s - first_s) / (batches - *starts) * *starts);
  loader.lost_s = (*start_s + beyond_s) * (*starts - 1) / *starts;
  return loader;
}

RuleOutcome Check(const RuleContext& context) {
  constexpr int kLoaders = 16;  // numbers are given in order of first use
  std::optional<Loader> worst;
  for (int number = 0; number < kLoaders; ++number) {
    const std::optional<Loader> loader = LoaderLoss(context, Format("framework.torch.loader.{}.", number));
    if (loader && (!worst || loader->lost_s > worst->lost_s)) worst = loader;
  }
  const double wall = context.analysis.wall_s;
  if (!worst || wall <= 0) return RuleOutcome::CannotTell({"framework.torch.loader.0.iterators", "run.wall.seconds"});
  if (context.ladder.gpu_used == GpuUsed::kNo) return RuleOutcome::Clear();  // an idle GPU has another cause
  const double share = std::min(1.0, worst->lost_s / wall);
  if (share < kShareInfo) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_worker_restart_each_epoch, share, kTwoWitnesses);
  finding.Param("workers", std::to_string(worst->workers)).Param("starts", std::to_string(worst->starts));
  finding.Param("each", Format("{:.1f} s", worst->lost_s / static_cast<double>(worst->starts - 1)));
  for (const char* name :
       {"iterators", "start_seconds", "first_wait_seconds", "wait_seconds", "persistent_workers", "workers"})
    AddItem(finding, MainFact(context, worst->prefix + name));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_worker_restart_each_epoch{.id = "GW503",
                                                            .name = "worker-restart-each-epoch",
                                                            .since = "0.2",
                                                            .stage = Stage::kSpeed,
                                                            .needs = kNeeds,
                                                            .check = &Check};

}  // namespace gpuwhy::rules
