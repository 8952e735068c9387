// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_container_lost_gpu_cgroup;

namespace {

constexpr std::string_view kNeeds[] = {"driver.nvml.error", "host.container", "log.nvml_unknown_error"};

constexpr int64_t kNvmlUnknown = 999;  // NVML_ERROR_UNKNOWN: what a container gets whose device rules are gone

RuleOutcome CheckText(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* error = Said(evidence, "nvml_unknown_error");
  if (error == nullptr) return RuleOutcome::CannotTell({"log.nvml_unknown_error"});
  // The host's own nvidia-smi works, or something names a container: then the container has lost what the host has.
  const Fact* container = Said(evidence, "container_prompt");
  if (container == nullptr) container = MainFact(context, "process.container.command");
  if (container == nullptr) container = evidence.Find("host.container");
  const Fact* host = nullptr;
  for (const Fact* name : evidence.All("gpu.name")) host = host == nullptr ? name : host;
  const Fact* reload = Said(evidence, "daemon_reload");
  const bool sure = container != nullptr || host != nullptr || reload != nullptr;
  // On a host the same error has other causes.
  if (!sure) return RuleOutcome::CannotTell({"host.container"});
  Finding finding = MakeFinding(kRule_container_lost_gpu_cgroup, Severity::kError, kTwoWitnesses);
  finding.implies = GpuUsed::kNo;
  finding.Param("seen", host != nullptr ? "@cgroup.host_works" : "@cgroup.alone");
  for (const Fact* fact : {error, host, reload, container, MainFact(context, "framework.torch.cuda_error")})
    AddItem(finding, fact);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const Fact* error = context.evidence.Find("driver.nvml.error");
  const Fact* container = context.evidence.Find("host.container");
  if (error == nullptr || container == nullptr) return RuleOutcome::CannotTell({"driver.nvml.error", "host.container"});
  const bool inside =
      !container->value.Show().empty() && container->value.known() && container->value.AsBool() != false;
  if (error->value.AsInt() != kNvmlUnknown || !inside) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_container_lost_gpu_cgroup, Severity::kError, kTwoWitnesses);
  finding.implies = GpuUsed::kNo;
  finding.Param("seen", "@cgroup.alone");
  AddItem(finding, error);
  AddItem(finding, container);
  AddItem(finding, context.evidence.Find("host.device_nodes.unreadable"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_container_lost_gpu_cgroup{.id = "GW303",
                                                            .name = "container-lost-gpu-cgroup",
                                                            .since = "0.1",
                                                            .stage = Stage::kVisibility,
                                                            .needs = kNeeds,
                                                            .check = &Check};

}  // namespace gpuwhy::rules
