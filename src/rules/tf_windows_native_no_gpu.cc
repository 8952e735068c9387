// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/builds.h"

namespace gpuwhy::rules {

extern const Rule kRule_tf_windows_native_no_gpu;

namespace {

constexpr std::string_view kNeeds[] = {"framework.tensorflow.version", "host.os.name",
                                       "framework.tensorflow.gpu_count"};

RuleOutcome Check(const RuleContext& context) {
  const bool windows = NativeWindows(context.evidence);
  bool tensorflow = false;
  for (const KnownBuild& known : BuildsSeen(context)) {
    if (known.seen.name != "tensorflow" || known.seen.version.empty()) continue;
    tensorflow = true;
    if (!TensorFlowWithoutCuda(known, context.evidence)) continue;
    // Only installed: the job may run on another framework.
    Finding finding =
        MakeFinding(kRule_tf_windows_native_no_gpu, known.seen.in_job ? Severity::kError : Severity::kWarning, kStated);
    if (known.seen.in_job) finding.implies = GpuUsed::kNo;
    finding.frameworks = {"tensorflow", "any"};
    finding.Param("version", known.seen.version);
    AddLine(finding, known.seen.version_fact);
    AddLine(finding, context.evidence.Find("host.os.name"));
    AddLine(finding, known.seen.sees_fact);
    return RuleOutcome::Fired(std::move(finding));
  }
  const bool os_known = windows || !SystemOf(context.evidence).empty();
  if (tensorflow && os_known) return RuleOutcome::Clear();
  if (!tensorflow && !windows) return RuleOutcome::Clear();
  return RuleOutcome::CannotTell({tensorflow ? "host.os.name" : "framework.tensorflow.version"});
}

}  // namespace

extern constinit const Rule kRule_tf_windows_native_no_gpu{.id = "GW102",
                                                           .name = "tf-windows-native-no-gpu",
                                                           .since = "0.1",
                                                           .stage = Stage::kBuild,
                                                           .needs = kNeeds,
                                                           .check = &Check};

}  // namespace gpuwhy::rules
