// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_launch_bound_small_kernels;

namespace {

constexpr std::string_view kNeeds[] = {"window.kernel.median.seconds", "window.launches_per_second",
                                       "run.gpu_busy.ratio"};

// A launch from Python costs 5 to 30 us of host time (an eager operator of PyTorch); kernels whose median is longer
// than that keep a host ahead of the GPU, so an idle GPU then has another reason.
constexpr double kShortKernel = 30e-6;

// TensorFlow says that a recurrent layer missed cuDNN: it then launches small kernels for every time step. The line
// comes on machines without a GPU too, so that use follows only where a GPU device was created.
RuleOutcome CheckText(const RuleContext& context) {
  const Fact* generic = MainFact(context, "framework.tensorflow.generic_rnn");
  if (generic == nullptr) return RuleOutcome::CannotTell({"framework.tensorflow.generic_rnn"});
  const Fact* device = MainFact(context, "framework.tensorflow.device_created");
  Finding finding = MakeFinding(kRule_launch_bound_small_kernels,
                                device != nullptr ? Severity::kWarning : Severity::kInfo, kOneWitness);
  if (device != nullptr) finding.implies = GpuUsed::kYes;
  finding.Param("how", "@launch.generic_rnn").Param("share", "?").Param("median", "?").Param("rate", "?");
  AddItem(finding, generic);
  AddItem(finding, device);
  AddItem(finding, Said(context.evidence, "code_recurrent_dropout"));
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const Analysis& analysis = context.analysis;
  if (!analysis.breakdown || !analysis.window || analysis.window->kernels == 0)
    return RuleOutcome::CannotTell({"window.kernel.median.seconds"});
  const double share = analysis.breakdown->launch;
  if (share < kShareInfo || analysis.window->median_kernel_s > kShortKernel) return RuleOutcome::Clear();
  Finding finding = TimeFinding(kRule_launch_bound_small_kernels, share, analysis.sync ? kStated : kTwoWitnesses);
  finding.Param("how", "@launch.measured");
  finding.Param("median", Format("{:.1f}", analysis.window->median_kernel_s * 1e6));
  finding.Param("rate", Format("{:.0f}", static_cast<double>(analysis.window->kernels) / analysis.window->seconds));
  for (const char* metric : {"window.kernel.median.seconds", "window.launches_per_second", "run.gpu_busy.ratio"})
    AddItem(finding, MetricItem(analysis, metric, Source::kCuda));
  AddItem(finding, MainFact(context, "framework.torch.compile_used"));
  AddItem(finding, MetricItem(analysis, "run.duty_cycle.ratio", Source::kDevice));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_launch_bound_small_kernels{.id = "GW601",
                                                             .name = "launch-bound-small-kernels",
                                                             .since = "0.1",
                                                             .stage = Stage::kSpeed,
                                                             .needs = kNeeds,
                                                             .check = &Check};

}  // namespace gpuwhy::rules
