// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"

#include <algorithm>

#include "base/format.h"

namespace gpuwhy {
namespace {

std::string TextOf(const Fact* fact) { return fact != nullptr ? fact->value.AsText().value_or("") : ""; }

// One framework of one entity; prefix is "framework." for a process and "python." for an interpreter.
std::optional<FrameworkSeen> Torch(const Evidence& evidence, const Entity& entity, const std::string& prefix) {
  FrameworkSeen seen;
  seen.name = "pytorch";
  seen.version_fact = evidence.Find(prefix + "torch.version", entity);
  seen.version = TextOf(seen.version_fact);
  if (seen.version.empty()) return std::nullopt;
  seen.cuda_fact = evidence.Find(prefix + "torch.cuda_built", entity);
  if (seen.cuda_fact != nullptr) seen.cuda = seen.cuda_fact->value.AsText();
  // The agent gives the version itself; an interpreter that only reads the files says yes or no, and the version apart.
  const std::optional<bool> built = seen.cuda_fact != nullptr ? seen.cuda_fact->value.AsBool() : std::nullopt;
  const std::string version = TextOf(evidence.Find(prefix + "torch.cuda_version", entity));
  if (built == false) seen.cuda = "";
  if (built == true && !version.empty()) seen.cuda = version;
  for (const char* hip : {"torch.hip_built", "torch.hip_version"}) {
    if (!TextOf(evidence.Find(prefix + hip, entity)).empty()) seen.cuda.reset();
  }
  seen.sees_fact = evidence.Find(prefix + "torch.cuda_available", entity);
  if (seen.sees_fact != nullptr) seen.sees_gpu = seen.sees_fact->value.AsBool();
  seen.error = TextOf(evidence.Find(prefix + "torch.cuda_error", entity));
  if (seen.error.empty()) seen.error = TextOf(evidence.Find(prefix + "python.exception", entity));
  return seen;
}

std::optional<FrameworkSeen> TensorFlow(const Evidence& evidence, const Entity& entity, const std::string& prefix) {
  FrameworkSeen seen;
  seen.name = "tensorflow";
  seen.version_fact = evidence.Find(prefix + "tensorflow.version", entity);
  seen.version = TextOf(seen.version_fact);
  if (seen.version.empty()) return std::nullopt;
  seen.cuda_fact = evidence.Find(prefix + "tensorflow.cuda_built", entity);
  const std::optional<bool> built = seen.cuda_fact != nullptr ? seen.cuda_fact->value.AsBool() : std::nullopt;
  if (built == false) seen.cuda = "";
  const std::string version = TextOf(evidence.Find(prefix + "tensorflow.cuda_version", entity));
  if (built == true && !version.empty()) seen.cuda = version;
  seen.sees_fact = evidence.Find(prefix + "tensorflow.gpu_count", entity);
  if (seen.sees_fact != nullptr && seen.sees_fact->value.AsInt()) seen.sees_gpu = *seen.sees_fact->value.AsInt() > 0;
  const Fact* initialized = evidence.Find(prefix + "tensorflow.initialized", entity);
  seen.idle = initialized != nullptr && initialized->value.AsBool() == false;
  return seen;
}

// Up to 0.4.2x the CUDA build of jaxlib had a version of its own: "0.4.13+cuda12.cudnn89" -> "12", "+cuda111" ->
// "11.1";
// "" where the version does not say.
std::string CudaOfJaxlib(const std::string& version) {
  constexpr std::string_view kMark = "+cuda";
  const size_t at = version.find(kMark);
  if (at == std::string::npos) return "";
  const std::string rest = version.substr(at + kMark.size());
  const std::string digits = rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
  return digits.size() == 3 ? digits.substr(0, 2) + "." + digits.substr(2) : digits;
}

std::optional<FrameworkSeen> Jax(const Evidence& evidence, const Entity& entity, const std::string& prefix) {
  FrameworkSeen seen;
  seen.name = "jax";
  seen.version_fact = evidence.Find(prefix + "jax.version", entity);
  seen.version = TextOf(seen.version_fact);
  if (seen.version.empty()) return std::nullopt;
  seen.cuda_fact = evidence.Find(prefix + "jax.cuda_plugin_version", entity);
  if (seen.cuda_fact != nullptr && seen.cuda_fact->value.AsText() == "") seen.cuda = "";
  const Fact* library = evidence.Find(prefix + "jaxlib.version", entity);
  if (const std::string cuda = CudaOfJaxlib(TextOf(library)); !cuda.empty()) {
    seen.cuda_fact = library;
    seen.cuda = cuda;
  }
  if (const Fact* built = evidence.Find(prefix + "jax.cuda_built", entity);
      built != nullptr && built->value.AsBool() == false) {
    seen.cuda_fact = built;
    seen.cuda = "";
  }
  seen.sees_fact = evidence.Find(prefix + "jax.backend", entity);
  const std::string backend = TextOf(seen.sees_fact);
  if (!backend.empty()) seen.sees_gpu = backend == "gpu" || backend == "cuda";
  seen.idle = seen.sees_fact != nullptr && backend.empty();
  seen.error = TextOf(evidence.Find(prefix + "jax.error", entity));
  return seen;
}

}  // namespace

std::optional<bool> GpuPresent(const Evidence& evidence) {
  if (!evidence.Entities(EntityKind::kGpu).empty()) return true;
  if (evidence.Bool("host.dxg") == true) return true;
  const std::optional<int64_t> count = evidence.Int("host.gpu.pci.count");
  return count ? std::optional<bool>(*count > 0) : std::nullopt;
}

std::vector<FrameworkSeen> FrameworksSeen(const RuleContext& context) {
  std::vector<FrameworkSeen> out;
  const auto add = [&](const Entity& entity, const std::string& prefix, bool in_job) {
    for (std::optional<FrameworkSeen> seen :
         {Torch(context.evidence, entity, prefix), TensorFlow(context.evidence, entity, prefix),
          Jax(context.evidence, entity, prefix)}) {
      if (!seen) continue;
      seen->in_job = in_job;
      out.push_back(std::move(*seen));
    }
  };
  add(Entity::Process(context.analysis.main_pid), "framework.", true);
  for (const int64_t pid : context.analysis.processes) {
    if (pid != context.analysis.main_pid && out.empty()) add(Entity::Process(pid), "framework.", true);
  }
  const auto idle = [](const FrameworkSeen& seen) { return seen.idle; };
  if (!std::all_of(out.begin(), out.end(), idle)) out.erase(std::remove_if(out.begin(), out.end(), idle), out.end());
  for (const Entity& entity : context.evidence.Entities(EntityKind::kInterpreter)) add(entity, "python.", false);
  return out;
}

std::optional<double> CoresAllowed(const Evidence& evidence) {
  std::optional<double> cores;
  if (const std::optional<int64_t> allowed = evidence.Int("host.cpu.allowed")) cores = static_cast<double>(*allowed);
  const std::optional<double> quota = evidence.Double("host.cgroup.cpu_limit");
  if (quota && *quota > 0) cores = std::min(cores.value_or(*quota), *quota);
  return cores;
}

const Fact* MainFact(const RuleContext& context, const std::string& name) {
  return context.evidence.Find(name, Entity::Process(context.analysis.main_pid));
}

const Fact* LoaderFact(const RuleContext& context, const std::string& name) {
  std::map<uint32_t, int64_t> waited;
  for (const Span& span : context.evidence.spans()) {
    if (span.kind == SpanKind::kInputWait && span.pid == context.analysis.main_pid)
      waited[span.detail[2]] += span.duration_ns;
  }
  int64_t longest = -1;
  const Fact* best = nullptr;
  constexpr uint32_t kLoaders = 16;  // numbers are given in order of first use
  for (uint32_t loader = 0; loader < kLoaders; ++loader) {
    const Fact* fact = MainFact(context, "framework.torch.loader." + std::to_string(loader) + "." + name);
    if (fact == nullptr || waited[loader] <= longest) continue;
    best = fact;
    longest = waited[loader];
  }
  return best;
}

std::string ShowPercent(double ratio) { return Format("{:.0f} %", ratio * 100); }

std::string ShowFactor(double factor) { return Format("{:.1f}", factor); }

Finding TimeFinding(const Rule& rule, double share, double confidence) {
  Finding finding = MakeFinding(rule, SeverityOfShare(share), confidence);
  finding.share_of_time = share;
  if (share < 0.99) finding.speedup = Speedup{1.0, 1 / (1 - share), false};
  finding.Param("share", ShowPercent(share));
  return finding;
}

void AddItem(Finding& finding, std::optional<EvidenceItem> item) {
  if (item) finding.evidence.push_back(std::move(*item));
}

void AddItem(Finding& finding, const Fact* fact) {
  if (fact != nullptr) finding.evidence.push_back(Item(*fact));
}

void AddLine(Finding& finding, const Fact* fact) {
  if (fact == nullptr) return;
  const auto quotes_it = [&](const EvidenceItem& item) { return !item.quote.empty() && item.where == fact->where; };
  if (fact->quote.empty() || std::none_of(finding.evidence.begin(), finding.evidence.end(), quotes_it))
    AddItem(finding, fact);
}

}  // namespace gpuwhy
