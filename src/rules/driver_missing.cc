// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_driver_missing;

namespace {

constexpr std::string_view kNeeds[] = {"host.gpu.pci.count", "host.driver.module", "host.driver.libcuda",
                                       "framework.torch.cuda_error"};

// PyTorch's own words where cuInit finds no libcuda.so.1 (torch/cuda/__init__.py, c10/cuda).
bool SaysNoDriver(const std::string& error) {
  return Contains(error, "Found no NVIDIA driver") || Contains(error, "libcuda.so.1: cannot open shared object file");
}

// A framework's word alone: the driver may also be there and not passed into a container, or lie on the Windows side.
const Fact* SaidWithoutDriver(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const bool seen = evidence.Find("driver.version") != nullptr || evidence.Bool("host.driver.module") == true;
  const bool elsewhere = Said(evidence, "wsl_library") != nullptr || evidence.Bool("host.wsl") == true ||
                         Said(evidence, "container_banner_no_driver") != nullptr ||
                         evidence.Text("host.container").has_value() ||
                         MainFact(context, "process.container.command") != nullptr;
  if (seen || elsewhere) return nullptr;
  const Fact* said = Said(evidence, "torch_no_driver");
  return said != nullptr ? said : Said(evidence, "tf_cuda_drivers_missing");
}

// Beside a list of the bus that shows the GPU there is no doubt.
RuleOutcome CheckSaid(const Evidence& evidence, const Fact& said) {
  const Fact* devices = evidence.Find("host.gpu.pci.devices");
  Finding finding = MakeFinding(kRule_driver_missing, devices != nullptr ? Severity::kError : Severity::kWarning,
                                devices != nullptr ? kStated : kOneWitness);
  finding.implies = GpuUsed::kNo;
  finding.Param("part", "nvidia.ko");
  if (devices == nullptr) finding.next = "nvidia-smi; lspci -nn | grep -i nvidia";
  for (const Fact* fact :
       {&said, devices, Said(evidence, "nvidia_smi_not_found"), evidence.Find("host.driver.module_other")})
    AddLine(finding, fact);
  return RuleOutcome::Fired(std::move(finding));
}

// In a container the host's module is loaded and its library not passed in: another cause.
bool NotPassedIn(const Evidence& evidence) {
  const Fact* nodes = evidence.Find("host.device_nodes");
  return !evidence.Text("host.container").value_or("").empty() && nodes != nullptr && nodes->value.AsList() &&
         nodes->value.AsList()->empty();
}

// The job's framework whose own words are that there is no driver.
std::optional<FrameworkSeen> WithoutDriver(const RuleContext& context) {
  std::optional<FrameworkSeen> says;
  std::vector<FrameworkSeen> all = FrameworksSeen(context);
  for (FrameworkSeen& seen : all) {
    if (seen.in_job && SaysNoDriver(seen.error)) says = std::move(seen);
  }
  return says;
}

RuleOutcome Check(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const std::optional<bool> present = GpuPresent(evidence);
  if (present == false) return RuleOutcome::Clear();  // without a GPU a driver is not what is missing
  const Fact* module_other = evidence.Find("host.driver.module_other");
  const Fact* said = SaidWithoutDriver(context);
  // nouveau holds the GPU, and not even nvidia-smi is installed.
  if (said == nullptr && FromText(evidence) && module_other != nullptr) said = Said(evidence, "nvidia_smi_not_found");
  if (said != nullptr) return CheckSaid(evidence, *said);
  const Fact* module = evidence.Find("host.driver.module");
  const std::optional<bool> loaded = module != nullptr ? module->value.AsBool() : std::nullopt;
  const Fact* libcuda = evidence.Find("host.driver.libcuda");
  const std::optional<StringList> found = libcuda != nullptr ? libcuda->value.AsList() : std::nullopt;
  const std::optional<FrameworkSeen> says = WithoutDriver(context);
  // A text that shows no more than an empty lsmod has not looked for the file.
  const std::optional<bool> on_disk = evidence.Bool("host.driver.module_on_disk");
  const bool looked = !FromText(evidence) || on_disk == false || found;
  const bool nothing_installed = loaded == false && on_disk != true && looked && (!found || found->empty());
  const bool user_part_missing = found && found->empty() && loaded == true && !NotPassedIn(evidence);
  if (!says && !nothing_installed && !user_part_missing) {
    return loaded || found ? RuleOutcome::Clear()
                           : RuleOutcome::CannotTell({"host.driver.module", "host.driver.libcuda"});
  }
  if (loaded == false && !nothing_installed) return RuleOutcome::Clear();  // installed but not loaded: another cause
  Finding finding = MakeFinding(kRule_driver_missing, Severity::kError,
                                present ? (says.has_value() ? kStated : kTwoWitnesses) : kOneWitness);
  finding.implies = GpuUsed::kNo;
  finding.Param("part", loaded == true ? "libcuda.so.1" : "nvidia.ko");
  if (!present) finding.next = "lspci -nn | grep -i nvidia";
  AddItem(finding, evidence.Find("host.gpu.pci.devices"));
  AddItem(finding, module);
  AddItem(finding, libcuda);
  if (says.has_value())
    finding.evidence.push_back({"framework.torch.cuda_error", Value::Of(says->error), "", Source::kFramework, ""});
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_driver_missing{
    .id = "GW202", .name = "driver-missing", .since = "0.1", .stage = Stage::kDriver, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
