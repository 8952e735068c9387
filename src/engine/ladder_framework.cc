// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "engine/ladder.h"

namespace gpuwhy {
namespace {

WitnessStatement Say(GpuUsed used, std::string key, std::map<std::string, std::string> params = {}) {
  return {Source::kFramework, used, "witness.framework." + key, std::move(params), "ok", ""};
}

// A process that imports two frameworks trains with one: where the variables lie tells which. A framework that sees
// GPUs outweighs one that cannot use any (a CPU-only build beside it may serve for loading data), and that one a mere
// import.
int Weight(const WitnessStatement& statement) {
  const std::string_view says = std::string_view(statement.says).substr(std::string_view("witness.framework.").size());
  if (statement.gpu_used == GpuUsed::kYes || statement.gpu_used == GpuUsed::kPartly) return 5;
  if (says == "torch_parameters_on_cpu" || says == "tensorflow_on_cpu") return 4;
  if (says == "torch_sees_gpus" || says == "tensorflow_sees_gpus") return 3;
  if (statement.gpu_used == GpuUsed::kNo) return 2;
  return statement.state == "ok" ? 1 : 0;
}

bool Better(const WitnessStatement& candidate, const WitnessStatement& best) {
  return Weight(candidate) > Weight(best);
}

class Asker {
 public:
  Asker(const Evidence& evidence, const Analysis& analysis, int64_t pid)
      : evidence_(evidence), analysis_(analysis), entity_(Entity::Process(pid)) {}

  WitnessStatement Torch() const {
    const std::string version = Text("torch.version");
    if (version.empty()) return Nothing();
    const std::map<std::string, std::string> params = {{"version", version}, {"error", Text("torch.cuda_error")}};
    const Fact* built = Find("torch.cuda_built");
    if (built != nullptr && built->value.AsText() == "" && Text("torch.hip_built").empty())
      return Say(GpuUsed::kNo, "torch_cpu_build", params);
    const Fact* available = Find("torch.cuda_available");
    if (available != nullptr && available->value.AsBool() == false)
      return Say(GpuUsed::kNo, params.at("error").empty() ? "torch_not_available" : "torch_not_available_because",
                 params);
    return TorchPlacement(version);
  }

  WitnessStatement TensorFlow() const {
    const std::string version = Text("tensorflow.version");
    if (version.empty()) return Nothing();
    const std::map<std::string, std::string> params = {{"version", version}};
    if (Bool("tensorflow.cuda_built") == false) return Say(GpuUsed::kNo, "tensorflow_cpu_build", params);
    const std::optional<int64_t> gpus = Int("tensorflow.gpu_count");
    if (gpus == 0) return Say(GpuUsed::kNo, "tensorflow_no_gpu", params);
    const std::optional<int64_t> on_gpu = Int("tensorflow.variables.gpu_bytes"),
                                 on_cpu = Int("tensorflow.variables.cpu_bytes");
    if (on_gpu.value_or(0) > 0) return Say(GpuUsed::kYes, "tensorflow_on_gpu", params);
    if (on_gpu == 0 && on_cpu.value_or(0) > 0) return Say(GpuUsed::kNo, "tensorflow_on_cpu", params);
    return Say(GpuUsed::kUnknown, gpus ? "tensorflow_sees_gpus" : "tensorflow_seen",
               {{"version", version}, {"count", gpus ? std::to_string(*gpus) : ""}});
  }

  WitnessStatement Jax() const {
    const std::string version = Text("jax.version");
    if (version.empty()) return Nothing();
    const std::string backend = Text("jax.backend");
    if (backend == "cpu") return Say(GpuUsed::kNo, "jax_on_cpu", {{"version", version}});
    if (backend == "gpu" || backend == "cuda") return Say(GpuUsed::kYes, "jax_on_gpu", {{"version", version}});
    return Say(GpuUsed::kUnknown, "jax_seen", {{"version", version}});
  }

 private:
  static WitnessStatement Nothing() {
    return {Source::kFramework, GpuUsed::kUnknown, "witness.framework.none", {}, "unavailable", ""};
  }

  WitnessStatement TorchPlacement(const std::string& version) const {
    const std::optional<int64_t> on_gpu = Int("torch.parameters.cuda_bytes"),
                                 on_cpu = Int("torch.parameters.cpu_bytes");
    std::map<std::string, std::string> params = {{"version", version}};
    if (on_gpu && on_cpu && *on_gpu + *on_cpu > 0) {
      const double share = static_cast<double>(*on_gpu) / static_cast<double>(*on_gpu + *on_cpu);
      params["share"] = Format("{:.0f}", share * 100);
      if (*on_gpu == 0)
        return Say(analysis_.steps_total > 0 ? GpuUsed::kNo : GpuUsed::kUnknown, "torch_parameters_on_cpu", params);
      if (*on_cpu > 0) return Say(GpuUsed::kPartly, "torch_parameters_split", params);
      return Say(GpuUsed::kYes, "torch_parameters_on_gpu", params);
    }
    if (Bool("torch.cuda_available") == true) return Say(GpuUsed::kUnknown, "torch_sees_gpus", params);
    return Say(GpuUsed::kUnknown, "torch_seen", params);
  }

  const Fact* Find(const std::string& name) const { return evidence_.Find("framework." + name, entity_); }
  std::string Text(const std::string& name) const {
    const Fact* fact = Find(name);
    return fact != nullptr ? fact->value.AsText().value_or("") : "";
  }
  std::optional<bool> Bool(const std::string& name) const {
    const Fact* fact = Find(name);
    return fact != nullptr ? fact->value.AsBool() : std::nullopt;
  }
  std::optional<int64_t> Int(const std::string& name) const {
    const Fact* fact = Find(name);
    return fact != nullptr ? fact->value.AsInt() : std::nullopt;
  }

  const Evidence& evidence_;
  const Analysis& analysis_;
  Entity entity_;
};

}  // namespace

WitnessStatement AskFramework(const Evidence& evidence, const Analysis& analysis) {
  WitnessStatement best{Source::kFramework, GpuUsed::kUnknown, "witness.framework.none", {}, "unavailable", ""};
  if (evidence.Find("framework.python.version") != nullptr) best.says = "witness.framework.no_framework";
  std::vector<int64_t> pids = {analysis.main_pid};
  for (const int64_t pid : analysis.processes) {
    if (pid != analysis.main_pid) pids.push_back(pid);
  }
  for (const int64_t pid : pids) {
    const Asker asker(evidence, analysis, pid);
    for (const WitnessStatement& candidate : {asker.Torch(), asker.TensorFlow(), asker.Jax()}) {
      if (Better(candidate, best)) best = candidate;
    }
  }
  return best;
}

}  // namespace gpuwhy
