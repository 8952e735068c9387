// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_wsl_libcuda_shadowed;

namespace {

constexpr std::string_view kNeeds[] = {"host.wsl", "host.driver.libcuda", "process.libcuda.path", "log.libcuda_listed"};

bool OfWindows(std::string_view path) { return Contains(path, "/wsl/"); }

// In WSL nvidia-smi and the driver are of two packages and of two versions; elsewhere they are one.
bool LooksLikeWsl(const Evidence& evidence) {
  if (evidence.Bool("host.wsl") == true || evidence.Bool("host.dxg") == true ||
      Said(evidence, "wsl_library") != nullptr)
    return true;
  const std::string tool = evidence.Text("driver.nvidia_smi.version").value_or(""),
                    driver = evidence.Text("driver.version").value_or("");
  return !tool.empty() && !driver.empty() && tool != driver && evidence.Text("host.os.name") != "windows" &&
         tool.substr(0, tool.find('.')) != driver.substr(0, driver.find('.'));
}

// dpkg names a Linux driver inside WSL, and a framework finds no GPU.
RuleOutcome CheckPackages(const RuleContext& context) {
  const Fact* package = context.evidence.Find("host.driver.library_version");
  const bool installed = package != nullptr && Trim(package->quote).substr(0, 3) == "ii ";
  if (!installed || context.evidence.Bool("host.wsl") != true) return RuleOutcome::CannotTell({"log.libcuda_listed"});
  if (context.ladder.gpu_used != GpuUsed::kNo) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_wsl_libcuda_shadowed, Severity::kError, kTwoWitnesses);
  finding.implies = GpuUsed::kNo;
  const std::string_view row = Trim(Trim(package->quote).substr(3));
  finding.Param("path", std::string(row.substr(0, row.find(' '))));
  AddItem(finding, package);
  AddItem(finding, context.evidence.Find("host.wsl"));
  AddItem(finding, MainFact(context, "framework.torch.cuda_available"));
  return RuleOutcome::Fired(std::move(finding));
}

// The path that the loader takes first, and whether Windows' own is behind it.
RuleOutcome CheckText(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  StringList paths = Captured(evidence, "libcuda_listed", "path");
  if (paths.empty()) paths = Captured(evidence, "libcuda_found", "path");
  if (paths.empty()) return CheckPackages(context);
  const bool windows_behind = std::any_of(paths.begin(), paths.end(), OfWindows);
  if (!LooksLikeWsl(evidence) || OfWindows(paths.front()) ||
      (!windows_behind && Said(evidence, "wsl_library") == nullptr && evidence.Bool("host.wsl") != true))
    return RuleOutcome::Clear();
  const Fact* listed = Said(evidence, "libcuda_listed");
  const Fact* denied = Said(evidence, "cuda_no_device");
  if (context.ladder.gpu_used == GpuUsed::kYes) return RuleOutcome::Clear();
  const bool sure = denied != nullptr || context.ladder.gpu_used == GpuUsed::kNo;
  Finding finding = MakeFinding(kRule_wsl_libcuda_shadowed, sure ? Severity::kError : Severity::kWarning,
                                sure ? kTwoWitnesses : kOneWitness);
  if (sure) finding.implies = GpuUsed::kNo;
  finding.Param("path", paths.front());
  for (const Fact* fact : {listed != nullptr ? listed : Said(evidence, "libcuda_found"), Said(evidence, "wsl_library"),
                           denied, evidence.Find("driver.nvidia_smi.version")})
    AddItem(finding, fact);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const Evidence& evidence = context.evidence;
  if (evidence.Find("host.wsl") == nullptr && evidence.Find("host.dxg") == nullptr)
    return RuleOutcome::CannotTell({"host.wsl"});
  const Fact* mapped = MainFact(context, "process.libcuda.path");
  const Fact* found = evidence.Find("host.driver.libcuda");
  const std::string job = mapped != nullptr ? mapped->value.AsText().value_or("") : "";
  const StringList all = found != nullptr ? found->value.AsList().value_or(StringList{}) : StringList{};
  const std::string first = !job.empty() ? job : all.empty() ? "" : all.front();
  if (!LooksLikeWsl(evidence) || first.empty() || OfWindows(first) || context.analysis.kernels_total > 0)
    return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_wsl_libcuda_shadowed, job.empty() ? Severity::kWarning : Severity::kError,
                                job.empty() ? kOneWitness : kTwoWitnesses);
  finding.Param("path", first);
  AddItem(finding, mapped);
  AddItem(finding, found);
  AddItem(finding, evidence.Find("host.wsl"));
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_wsl_libcuda_shadowed{.id = "GW304",
                                                       .name = "wsl-libcuda-shadowed",
                                                       .since = "0.1",
                                                       .stage = Stage::kVisibility,
                                                       .needs = kNeeds,
                                                       .check = &Check};

}  // namespace gpuwhy::rules
