// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "engine/compare.h"
#include "engine/lookup.h"

namespace gpuwhy {
namespace {

// Settings of a job's frameworks, after "framework.". What is measured (bytes in use, calls counted) is none.
constexpr std::array<std::string_view, 46> kFramework = {"python.version",
                                                         "torch.version",
                                                         "torch.cuda_built",
                                                         "torch.cudnn_version",
                                                         "torch.device_count",
                                                         "torch.batch_size",
                                                         "torch.amp",
                                                         "torch.amp.dtype",
                                                         "torch.tf32.matmul",
                                                         "torch.tf32.cudnn",
                                                         "torch.cudnn_benchmark",
                                                         "torch.compile_used",
                                                         "torch.grad_anomaly",
                                                         "torch.optimizer",
                                                         "torch.optimizers",
                                                         "torch.parameters.dtypes",
                                                         "torch.parameters.count",
                                                         "torch.parameters.cuda_bytes",
                                                         "torch.parameters.cpu_bytes",
                                                         "torch.inputs.device",
                                                         "torch.inputs.pinned",
                                                         "torch.memory.0.limit_bytes",
                                                         "tensorflow.version",
                                                         "tensorflow.cuda_version",
                                                         "tensorflow.cudnn_version",
                                                         "tensorflow.visible_gpu_count",
                                                         "tensorflow.gpu.0.memory_growth",
                                                         "tensorflow.xla",
                                                         "tensorflow.mixed_precision",
                                                         "tensorflow.run_eagerly",
                                                         "keras.version",
                                                         "keras.backend",
                                                         "keras.optimizer",
                                                         "keras.input",
                                                         "keras.batch_size",
                                                         "keras.jit_compile",
                                                         "jax.version",
                                                         "jaxlib.version",
                                                         "jax.cuda_plugin_version",
                                                         "jax.backend",
                                                         "jax.device_count",
                                                         "jax.memory.0.limit_bytes",
                                                         "jax.devices",
                                                         "tensorflow.variables.gpu_bytes",
                                                         "tensorflow.variables.cpu_bytes",
                                                         "tensorflow.variables.count"};
// Of the DataLoader for which the process waited longest: its number is chance.
constexpr std::array<std::string_view, 9> kLoader = {"workers",         "pin_memory", "persistent_workers",
                                                     "prefetch_factor", "batch_size", "shuffle",
                                                     "drop_last",       "dataset",    "length"};
constexpr std::array<std::string_view, 12> kHost = {
    "job.command",    "host.os.name",       "host.os.version",  "host.kernel",           "host.container",
    "host.wsl",       "host.cpu.model",     "host.cpu.allowed", "host.cgroup.cpu_limit", "host.memory.total.bytes",
    "driver.version", "driver.cuda_version"};
constexpr std::array<std::string_view, 10> kGpu = {
    "gpu.name",           "gpu.memory.total.bytes", "gpu.power.limit.watts", "gpu.mig.mode",
    "gpu.ecc.mode",       "gpu.compute_mode",       "gpu.persistence_mode",  "gpu.pcie.generation.max",
    "gpu.pcie.width.max", "gpu.pcie.width.current"};

using Settings = std::map<std::string, const Fact*>;

// Settings of one session by name; facts that nobody told are not in it.
Settings SettingsOf(const Measured& measured) {
  const Evidence& evidence = measured.session->evidence;
  const Entity process = Entity::Process(measured.analysis.main_pid);
  Settings out;
  const auto put = [&](const std::string& name, const Fact* fact) {
    if (fact != nullptr) out.emplace(name, fact);
  };
  for (const std::string_view name : kFramework) {
    const std::string full = "framework." + std::string(name);
    put(full, evidence.Find(full, process));
  }
  const RuleContext context{evidence, measured.analysis, Ladder{}};
  for (const std::string_view name : kLoader)
    put("framework.torch.loader." + std::string(name), LoaderFact(context, std::string(name)));
  for (const std::string_view name : kHost) put(std::string(name), evidence.Find(name, Entity::Host()));
  for (const std::string_view name : kGpu)
    put(std::string(name), evidence.Find(name, Entity::Gpu(measured.analysis.gpu)));
  for (const Fact* fact : evidence.WithPrefix("process.env.")) {
    // What gpuwhy itself sets has a new path in every run.
    const bool own = Contains(fact->name, "GPUWHY") || Contains(fact->name, "CUDA_INJECTION64_PATH");
    if (!own && fact->entity == process) put(fact->name, fact);
  }
  return out;
}

bool Same(const Fact* a, const Fact* b) {
  const bool left = a != nullptr && a->value.known(), right = b != nullptr && b->value.known();
  if (!left || !right) return left == right;
  return a->value.Show() == b->value.Show();
}

const Fact* Of(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? nullptr : found->second;
}

Value ValueOf(const Fact* fact) { return fact != nullptr ? fact->value : Value::Missing(State::kNotFound, ""); }

// A fact that only one side tells is a setting where its absence says something: a loader that does not exist, a
// variable that is not set. Elsewhere the other side runs another framework, or the agent is older.
bool TellsByAbsence(const std::string& name) {
  return name.rfind("framework.torch.loader.", 0) == 0 || name.rfind("process.env.", 0) == 0;
}

// Of a loader that only one side has its size is enough.
bool TooFine(const std::string& name, const Fact* a, const Fact* b) {
  constexpr std::string_view kLoaderPrefix = "framework.torch.loader.";
  if (a != nullptr && b != nullptr) return false;
  const std::string rest = name.rfind(kLoaderPrefix, 0) == 0 ? name.substr(kLoaderPrefix.size()) : "workers";
  return rest != "workers" && rest != "batch_size";
}

std::vector<std::string> NamesOf(const Settings& a, const Settings& b) {
  std::vector<std::string> names;
  for (const auto* settings : {&a, &b}) {
    for (const auto& [name, fact] : *settings) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

void CompareSettings(const std::vector<Measured>& before, const std::vector<Measured>& after, Comparison& out) {
  const Settings left = SettingsOf(before.front()), right = SettingsOf(after.front());
  for (const std::string& name : NamesOf(left, right)) {
    const Fact *a = Of(left, name), *b = Of(right, name);
    if (Same(a, b) || TooFine(name, a, b) || ((a == nullptr || b == nullptr) && !TellsByAbsence(name))) continue;
    out.settings.push_back({name, ValueOf(a), ValueOf(b)});
  }
  // The first session stands for its side: the others must be like it.
  StringList unlike;
  for (const auto* side : {&before, &after}) {
    for (size_t i = 1; i < side->size(); ++i) {
      const Settings first = SettingsOf(side->front()), other = SettingsOf((*side)[i]);
      for (const std::string& name : NamesOf(first, other)) {
        const bool known = std::find(unlike.begin(), unlike.end(), name) != unlike.end();
        if (!known && !Same(Of(first, name), Of(other, name))) unlike.push_back(name);
      }
    }
  }
  if (!unlike.empty()) out.caveats.push_back({"unlike_runs", {{"names", Join(unlike, ", ")}}});
}

}  // namespace gpuwhy
