// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"
#include "knowledge/gpus.h"

namespace gpuwhy::rules {

extern const Rule kRule_gpu_index_order;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.device.0.name", "gpu.index", "gpu.memory.total.bytes"};

constexpr int kMostDevices = 16;
constexpr double kGibibyte = 1024.0 * 1024 * 1024;
constexpr double kSameMemory = 0.15;  // firmware and ECC take a part; cards of one series differ by more

// Answers only where it can: names that are cut off say nothing.
std::optional<bool> SameName(const std::string& framework, const std::string& driver) {
  if (Contains(driver, "...") || driver.empty() || framework.empty()) return std::nullopt;
  const auto bare = [](std::string name) {
    name = Lower(name);
    return name.rfind("nvidia ", 0) == 0 ? name.substr(7) : name;
  };
  return bare(framework) == bare(driver);
}

std::optional<bool> SameMemory(const std::string& framework, const Fact* total) {
  const std::optional<knowledge::GpuFacts> card = knowledge::FindGpu(framework);
  if (!card || card->gib <= 0 || total == nullptr || !total->value.AsDouble()) return std::nullopt;
  return std::abs(*total->value.AsDouble() / (card->gib * kGibibyte) - 1) < kSameMemory;
}

std::optional<bool> Same(const Evidence& evidence, const std::string& framework, const Entity& gpu) {
  const Fact* name = evidence.Find("gpu.name", gpu);
  const std::optional<bool> by_name = SameName(framework, name != nullptr ? name->value.Show() : "");
  return by_name ? by_name : SameMemory(framework, evidence.Find("gpu.memory.total.bytes", gpu));
}

const Fact* ComputesOn(const Evidence& evidence, const Entity& gpu) {
  for (const Fact* type : evidence.All("process.gpu.type")) {
    if (type->entity.gpu() == gpu.id && type->value.Show() != "G") return type;
  }
  return nullptr;
}

// The number that the driver should have for the framework's device if both counted alike: an explicit list renumbers.
// Nothing when the list names GPUs by UUID.
std::optional<int64_t> Expected(const RuleContext& context, int device) {
  const Fact* visible = MainFact(context, "process.env.CUDA_VISIBLE_DEVICES");
  const std::string list = visible != nullptr ? visible->value.AsText().value_or("") : "";
  if (list.empty()) return device;
  const std::vector<std::string_view> entries = Split(list, ',');
  if (static_cast<size_t>(device) >= entries.size()) return std::nullopt;
  return ParseInt(Trim(entries[static_cast<size_t>(device)]));
}

// CUDA numbers the fastest GPU first, the driver by PCI bus (CUDA programming guide, CUDA_DEVICE_ORDER).
RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  bool compared = false;
  for (int device = 0; device < kMostDevices; ++device) {
    const Fact* named = MainFact(context, "framework.torch.device." + std::to_string(device) + ".name");
    if (named == nullptr) continue;
    const std::optional<int64_t> expected = Expected(context, device);
    if (!expected) continue;
    const std::string framework = named->value.Show();
    const Fact* other = nullptr;
    bool differs = false;
    for (const Fact* index : evidence.All("gpu.index")) {
      const std::optional<bool> same = Same(evidence, framework, index->entity);
      if (!same) continue;
      compared = true;
      if (index->value.AsInt() == expected) differs = !*same;
      if (index->value.AsInt() != expected && *same) other = index;
    }
    if (!differs || other == nullptr) continue;
    const Fact* process = ComputesOn(evidence, other->entity);
    Finding finding =
        MakeFinding(kRule_gpu_index_order, FromText(evidence) ? Severity::kWarning : Severity::kInfo, kTwoWitnesses);
    if (process != nullptr) finding.implies = GpuUsed::kYes;
    finding.Param("device", std::to_string(device)).Param("name", framework).Param("index", other->value.Show());
    AddItem(finding, named);
    AddItem(finding, evidence.Find("gpu.memory.total.bytes", other->entity));
    AddItem(finding, process);
    return RuleOutcome::Fired(std::move(finding));
  }
  return compared ? RuleOutcome::Clear() : RuleOutcome::CannotTell({"framework.torch.device.0.name", "gpu.index"});
}

}  // namespace

extern constinit const Rule kRule_gpu_index_order{
    .id = "GW308", .name = "gpu-index-order", .since = "0.1", .stage = Stage::kNote, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
