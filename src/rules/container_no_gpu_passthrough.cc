// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_container_no_gpu_passthrough;

namespace {

constexpr std::string_view kNeeds[] = {"host.container", "host.device_nodes", "host.driver.module",
                                       "log.container_banner_no_driver"};

// A container that was started by hand and without the option that passes GPUs in.
bool RunWithoutGpus(const Fact* command) {
  const std::string text = command != nullptr ? command->value.AsText().value_or("") : "";
  const bool run = Contains(text, "docker run") || Contains(text, "podman run") || Contains(text, "docker create");
  for (const char* option : {"--gpus", "--runtime=nvidia", "--runtime nvidia", "--device nvidia.com",
                             "--device=nvidia.com", "nvidia-docker"}) {
    if (Contains(text, option)) return false;
  }
  return run;
}

RuleOutcome CheckText(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* command = MainFact(context, "process.container.command");
  const Fact* banner = Said(evidence, "container_banner_no_driver");
  const Fact* refused = nullptr;
  for (const char* id : {"docker_no_device_driver", "docker_nvidia_runtime", "docker_no_gpus_option",
                         "docker_cdi_unresolved", "container_cli_no_driver"}) {
    if (refused == nullptr) refused = Said(evidence, id);
  }
  const bool without = RunWithoutGpus(command);
  const Fact* available = MainFact(context, "framework.torch.cuda_available");
  const bool sees = available != nullptr && available->value.AsBool() == true;
  const bool blind =
      context.ladder.gpu_used == GpuUsed::kNo || (Said(evidence, "nvidia_smi_not_found") != nullptr && !sees);
  // The prompt of a container in which a framework finds no driver.
  const bool no_driver = command == nullptr && Said(evidence, "torch_no_driver") != nullptr;
  const Fact* inside = blind && no_driver ? evidence.Find("host.container") : nullptr;
  if (banner == nullptr && refused == nullptr && inside == nullptr && !(without && blind))
    return command != nullptr ? RuleOutcome::Clear()
                              : RuleOutcome::CannotTell({"log.container_banner_no_driver", "host.container"});
  const double confidence = banner != nullptr || refused != nullptr ? kStated : without ? kTwoWitnesses : kOneWitness;
  Finding finding = MakeFinding(kRule_container_no_gpu_passthrough,
                                confidence == kOneWitness ? Severity::kWarning : Severity::kError, confidence);
  finding.implies = GpuUsed::kNo;
  finding.Param("what", refused != nullptr ? "@container.toolkit" : "@container.option");
  for (const Fact* fact : {banner, refused, command, inside, Said(evidence, "nvidia_smi_not_found"), available})
    AddLine(finding, fact);
  return RuleOutcome::Fired(std::move(finding));
}

// Live: the module of the host is loaded, the container has none of its device nodes.
RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const Fact* container = context.evidence.Find("host.container");
  const Fact* nodes = context.evidence.Find("host.device_nodes");
  const Fact* module = context.evidence.Find("host.driver.module");
  if (container == nullptr || !container->value.known() || nodes == nullptr || !nodes->value.AsList() ||
      module == nullptr)
    return RuleOutcome::CannotTell({"host.container", "host.device_nodes", "host.driver.module"});
  const bool inside = !container->value.Show().empty() && container->value.AsBool() != false;
  if (!inside || module->value.AsBool() != true || !nodes->value.AsList()->empty() ||
      context.evidence.Bool("host.dxg") == true)
    return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_container_no_gpu_passthrough, Severity::kError, kTwoWitnesses);
  finding.implies = GpuUsed::kNo;
  finding.Param("what", "@container.nodes");
  AddItem(finding, container);
  AddItem(finding, module);
  AddItem(finding, nodes);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_container_no_gpu_passthrough{.id = "GW302",
                                                               .name = "container-no-gpu-passthrough",
                                                               .since = "0.1",
                                                               .stage = Stage::kVisibility,
                                                               .needs = kNeeds,
                                                               .check = &Check};

}  // namespace gpuwhy::rules
