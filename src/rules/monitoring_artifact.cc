// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"
#include "knowledge/gpus.h"

namespace gpuwhy::rules {

extern const Rule kRule_monitoring_artifact;

namespace {

constexpr std::string_view kNeeds[] = {"driver.processes.box", "gpu.mig.mode", "gpu.memory.used.bytes",
                                       "gpu.engine.3d.ratio"};

constexpr double kMebibyte = 1048576;
constexpr double kGibibyte = 1024 * kMebibyte;
constexpr double kHeld = 100 * kMebibyte;  // more than an idle driver keeps
constexpr double kBusy = 0.10;
constexpr double kShown3d = 0.35, kReal = 0.50;  // one graph low while another tool shows work
constexpr double kQuota = 0.6;  // of the card's memory: below it no reserve of ECC or firmware explains

double Last(const Evidence& evidence, const char* name, const Entity& gpu) {
  const Series& series = evidence.Samples(name, gpu);
  return series.empty() ? -1 : series.back().value;
}

// One display that misleads: what it hides, as a key of locale/, and the facts that show it.
struct Artifact {
  const char* what = nullptr;
  std::vector<const Fact*> facts;
  std::map<std::string, std::string> params;
};

// The box is there and empty although a GPU is held or works: PIDs of another namespace cannot be resolved.
Artifact EmptyBox(const Evidence& evidence) {
  const Fact* box = evidence.Find("driver.processes.box");
  if (box == nullptr || box->value.AsText() != "empty") return {};
  for (const Fact* memory : evidence.All("gpu.memory.used.bytes")) {
    const bool works = Last(evidence, "gpu.utilization.ratio", memory->entity) >= kBusy;
    if (works || Last(evidence, "gpu.memory.used.bytes", memory->entity) > kHeld)
      return {"@artifact.empty_box", {memory, box}, {}};
  }
  return {};
}

Artifact Quota(const Evidence& evidence) {
  for (const Fact* total : evidence.All("gpu.memory.total.bytes")) {
    const Fact* name = evidence.Find("gpu.name", total->entity);
    const std::string printed = name != nullptr ? name->value.Show() : "";
    // Virtual and partitioned GPUs are smaller by design, and say so.
    const Fact* mig = evidence.Find("gpu.mig.mode", total->entity);
    const bool by_design =
        Contains(printed, "GRID") || Contains(printed, "MIG") || (mig != nullptr && mig->value.AsBool() == true);
    const std::optional<knowledge::GpuFacts> card = knowledge::FindGpu(printed);
    if (by_design || !card || card->gib <= 0 || !total->value.AsDouble()) continue;
    if (*total->value.AsDouble() >= kQuota * card->gib * kGibibyte) continue;
    return {"@artifact.quota",
            {name, total},
            {{"shown", Format("{:.0f} MiB", *total->value.AsDouble() / kMebibyte)},
             {"card", Format("{:.0f} GiB", card->gib)}}};
  }
  return {};
}

Artifact NoMemoryShown(const Evidence& evidence) {
  for (const Fact* memory : evidence.All("gpu.memory.used.bytes")) {
    if (memory->value.state != State::kUnsupported || !Contains(memory->value.why, "Not Supported")) continue;
    const Fact* name = evidence.Find("gpu.name", memory->entity);
    return {
        "@artifact.unified", {name, memory}, {{"gpu", name != nullptr ? name->value.Show() : "@artifact.this_gpu"}}};
  }
  return {};
}

Artifact MigUse(const Evidence& evidence) {
  for (const Fact* mode : evidence.All("gpu.mig.mode")) {
    const Fact* use = evidence.Find("gpu.utilization.ratio", mode->entity);
    if (mode->value.AsBool() == true && use != nullptr && use->value.state == State::kUnsupported)
      return {"@artifact.mig", {use}, {}};
  }
  return {};
}

Artifact ProcessMemory(const Evidence& evidence) {
  for (const Fact* memory : evidence.All("process.gpu.memory.bytes")) {
    const Fact* model = evidence.Find("gpu.driver_model", Entity::Gpu(memory->entity.gpu()));
    if (memory->value.state == State::kUnsupported && model != nullptr && model->value.AsText() == "WDDM")
      return {"@artifact.wddm", {memory}, {}};
  }
  return {};
}

Artifact Metal(const Evidence& evidence) {
  const Fact* device = Said(evidence, "tf_pluggable_device");
  const bool metal =
      device != nullptr && Contains(Join(Captured(evidence, "tf_pluggable_device", "name"), " "), "METAL");
  return metal ? Artifact{"@artifact.metal", {device}, {}} : Artifact{};
}

// Task Manager draws four graphs, and the one that carries CUDA is often none of them.
Artifact TaskManager(const Evidence& evidence) {
  for (const Fact* shown : evidence.All("gpu.engine.3d.ratio")) {
    const bool compute_shown =
        !evidence.All("gpu.engine.cuda.ratio").empty() || !evidence.All("gpu.engine.compute.ratio").empty();
    if (compute_shown || shown->value.AsDouble().value_or(1) > kShown3d) continue;
    for (const Fact* use : evidence.All("gpu.utilization.ratio")) {
      if (use->value.AsDouble().value_or(0) >= kReal) return {"@artifact.task_manager", {shown, use}, {}};
    }
    return {"@artifact.task_manager", {shown}, {}};
  }
  return {};
}

RuleOutcome Check(const RuleContext& context) {
  if (!FromText(context.evidence)) return RuleOutcome::CannotTell({"driver.processes.box"});
  Finding finding = MakeFinding(kRule_monitoring_artifact, Severity::kInfo, kTwoWitnesses);
  for (const auto& look : {TaskManager, Quota, EmptyBox, NoMemoryShown, Metal, MigUse, ProcessMemory}) {
    const Artifact artifact = look(context.evidence);
    if (artifact.what == nullptr) continue;
    if (finding.params.count("what") == 0) {
      finding.params = artifact.params;
      finding.Param("what", artifact.what);
    }
    for (const Fact* fact : artifact.facts) AddLine(finding, fact);
  }
  if (finding.params.count("what") == 0) return RuleOutcome::Clear();
  finding.next = "nvidia-smi dmon -s pucm -d 1 -c 60   # while the job computes; in a container: on the host";
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_monitoring_artifact{.id = "GW004",
                                                      .name = "monitoring-artifact",
                                                      .since = "0.1",
                                                      .stage = Stage::kNote,
                                                      .needs = kNeeds,
                                                      .check = &Check};

}  // namespace gpuwhy::rules
