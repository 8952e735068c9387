// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "engine/ladder.h"
#include "engine/text_facts.h"

// A pasted text is no rung of the ladder: each of its facts counts for the rung of the tool that printed it.
namespace gpuwhy {
namespace {

// A desktop makes single per cent; with a compute process listed on the GPU less is needed to believe in its work.
constexpr double kBusy = 0.10, kBusyWithProcess = 0.05;
// Idle data-centre cards draw 10 to 20 % of their limit.
constexpr double kWorkingPower = 0.3;

WitnessStatement Say(Source rung, GpuUsed used, const char* key, std::map<std::string, std::string> params = {}) {
  return {rung, used, Format("witness.text.{}", key), std::move(params), "ok", ""};
}

WitnessStatement Silent(Source rung) {
  return {rung, GpuUsed::kUnknown, "witness.text.nothing", {}, "unavailable", ""};
}

std::optional<bool> JobBool(const Evidence& evidence, const char* name) {
  const Fact* fact = evidence.Find(name, Entity::Process(0));
  return fact != nullptr ? fact->value.AsBool() : std::nullopt;
}

bool JobSays(const Evidence& evidence, const char* name, std::string_view text) {
  const Fact* fact = evidence.Find(name, Entity::Process(0));
  return fact != nullptr && fact->value.AsText() == std::string(text);
}

bool JobHas(const Evidence& evidence, const char* name) {
  const Fact* fact = evidence.Find(name, Entity::Process(0));
  return fact != nullptr && fact->value.known() && fact->value.Show() != "";
}

const Fact* FirstOf(const Evidence& evidence, const char* name) { return evidence.Find(name, Entity::Process(0)); }

std::string Quote(const Fact* fact) {
  return fact == nullptr ? "" : fact->quote.empty() ? fact->value.Show() : fact->quote;
}

WitnessStatement Framework(const Evidence& evidence) {
  const Source rung = Source::kFramework;
  const auto said = [&](GpuUsed used, const char* key, const char* fact) {
    return Say(rung, used, key, {{"quote", Quote(FirstOf(evidence, fact))}});
  };
  if (JobBool(evidence, "framework.on_cpu") == true && JobBool(evidence, "framework.on_gpu") != true)
    return said(GpuUsed::kNo, "framework_cpu", "framework.on_cpu");
  // A Mac has no CUDA to be available: its GPU is reached through Metal.
  if (JobBool(evidence, "framework.on_mps") == true) return said(GpuUsed::kYes, "framework_gpu", "framework.on_mps");
  // torch.version.cuda is None in a ROCm build too: it counts together with a device that is not there.
  const std::optional<bool> available = JobBool(evidence, "framework.torch.cuda_available");
  const Fact* version = FirstOf(evidence, "framework.torch.version");
  const bool named_cpu = version != nullptr && Contains(version->value.Show(), "+cpu");
  if (JobSays(evidence, "framework.torch.cuda_built", "") && !JobHas(evidence, "framework.torch.hip_built") &&
      (available == false || named_cpu))
    return said(GpuUsed::kNo, "framework_cpu", "framework.torch.cuda_built");
  if (JobHas(evidence, "framework.torch.cuda_error"))
    return said(GpuUsed::kNo, "framework_cannot", "framework.torch.cuda_error");
  if (JobHas(evidence, "framework.torch.arch_missing"))
    return said(GpuUsed::kNo, "framework_cannot", "framework.torch.arch_missing");
  // On a Mac the question for CUDA is the wrong one.
  const Fact* others = FirstOf(evidence, "framework.tensorflow.gpu_count");
  const bool other_sees = others != nullptr && others->value.AsInt().value_or(0) > 0;
  if (available == false && !other_sees && Said(evidence, "mentions_mps") == nullptr)
    return said(GpuUsed::kNo, "framework_cannot", "framework.torch.cuda_available");
  const Fact* count = FirstOf(evidence, "framework.tensorflow.gpu_count");
  if (count != nullptr && count->value.AsInt() == 0 && available != true)  // one framework's GPU is enough
    return said(GpuUsed::kNo, "framework_cannot", "framework.tensorflow.gpu_count");
  if (JobSays(evidence, "framework.jax.backend", "cpu"))
    return said(GpuUsed::kNo, "framework_cpu", "framework.jax.backend");
  if (JobBool(evidence, "framework.on_gpu") == true) return said(GpuUsed::kYes, "framework_gpu", "framework.on_gpu");
  for (const char* name : {"framework.torch.version", "framework.tensorflow.version", "framework.jax.version",
                           "framework.torch.cuda_available", "framework.tensorflow.gpu_count"}) {
    if (JobHas(evidence, name)) return said(GpuUsed::kUnknown, "framework_seen", name);
  }
  return Silent(rung);
}

// The last word of the rungs that seldom speak in a text: the first quoted message that was printed by them.
WitnessStatement Quoted(const Evidence& evidence, Source rung) {
  for (const Fact* fact : evidence.WithPrefix("log.")) {
    if (fact->source == rung && !fact->quote.empty())
      return Say(rung, GpuUsed::kUnknown, "quoted", {{"quote", fact->quote}});
  }
  return Silent(rung);
}

// CUDA's own refusal to start: no program that got it works on the GPU. What fails later says nothing of that kind.
WitnessStatement Cuda(const Evidence& evidence) {
  for (const char* id : {"cuda_no_device", "cuda_devices_busy", "cuda_driver_insufficient", "cuda_system_not_ready",
                         "cuda_driver_mismatch", "cuda_compat_unsupported", "cuda_unknown"}) {
    if (const Fact* said = Said(evidence, id))
      return Say(Source::kCuda, GpuUsed::kNo, "quoted", {{"quote", said->quote}});
  }
  return Quoted(evidence, Source::kCuda);
}

// Windows' scheduler counters as Task Manager draws them: the engines that carry CUDA.
WitnessStatement System(const Evidence& evidence) {
  for (const char* name : {"gpu.engine.cuda.ratio", "gpu.engine.compute.ratio"}) {
    for (const Fact* fact : evidence.All(name)) {
      const double share = fact->value.AsDouble().value_or(0);
      if (share >= kBusy)
        return Say(Source::kOs, GpuUsed::kYes, "engine_busy", {{"share", Format("{:.0f}", share * 100)}});
    }
  }
  return Quoted(evidence, Source::kOs);
}

// Types of nvidia-smi: C computes, G draws; C+G does both, which on Windows is any desktop program.
bool Computes(const Fact& type) {
  const std::string text = type.value.AsText().value_or("");
  return text == "C" || text == "M+C";
}
bool OnlyDraws(const Fact& type) { return type.value.AsText() == "G"; }

WitnessStatement Driver(const Evidence& evidence) {
  const Source rung = Source::kDriver;
  double highest = -1;
  for (const Entity& process : evidence.EntitiesWith("process.gpu.sm.ratio"))
    highest = std::max(highest, MaxOf(evidence.Samples("process.gpu.sm.ratio", process), 0, 1e18).value_or(-1));
  if (highest >= kBusyWithProcess)
    return Say(rung, GpuUsed::kYes, "process_busy", {{"sm", Format("{:.0f}", highest * 100)}});
  const std::vector<const Fact*> types = evidence.All("process.gpu.type");
  const auto computing = std::count_if(types.begin(), types.end(), [](const Fact* fact) { return Computes(*fact); });
  if (computing > 0) return Say(rung, GpuUsed::kUnknown, "process_listed", {{"count", std::to_string(computing)}});
  const std::string version = evidence.Text("driver.version").value_or("");
  if (!version.empty()) return Say(rung, GpuUsed::kUnknown, "driver_seen", {{"version", version}});
  return Quoted(evidence, rung);
}

bool ComputesOn(const Evidence& evidence, const Entity& gpu, bool& only_graphics) {
  bool compute = false, any = false, other = false;
  for (const Fact* type : evidence.All("process.gpu.type")) {
    if (type->entity.gpu() != gpu.id) continue;
    any = true;
    compute = compute || Computes(*type);
    other = other || !OnlyDraws(*type);
  }
  only_graphics = any && !other;
  return compute;
}

struct Busiest {
  double duty = -1;
  Entity gpu;
  bool works = false, compute = false;
};

Busiest FindBusiest(const Evidence& evidence) {
  Busiest best;
  for (const Entity& gpu : evidence.EntitiesWith("gpu.utilization.ratio")) {
    const double duty = MaxOf(evidence.Samples("gpu.utilization.ratio", gpu), 0, 1e18).value_or(-1);
    bool only_graphics = false;
    const bool compute = ComputesOn(evidence, gpu, only_graphics);
    const bool works = !only_graphics && duty >= (compute ? kBusyWithProcess : kBusy);
    if (duty > best.duty || (works && !best.works)) best = {duty, gpu, works, compute};
  }
  return best;
}

// A partitioned GPU has no duty cycle: a compute process on it and power well above idle stand for work.
const Fact* WorkingMig(const Evidence& evidence) {
  for (const Fact* mode : evidence.All("gpu.mig.mode")) {
    bool only_graphics = false;
    const Fact* power = evidence.Find("gpu.power.watts", mode->entity);
    const Fact* limit = evidence.Find("gpu.power.limit.watts", mode->entity);
    if (mode->value.AsBool() != true || power == nullptr || limit == nullptr) continue;
    const double drawn = power->value.AsDouble().value_or(0), most = limit->value.AsDouble().value_or(0);
    if (ComputesOn(evidence, mode->entity, only_graphics) && most > 0 && drawn >= kWorkingPower * most) return power;
  }
  return nullptr;
}

WitnessStatement Device(const Evidence& evidence, const Busiest& busiest) {
  const Source rung = Source::kDevice;
  const Fact* mig = busiest.works ? nullptr : WorkingMig(evidence);
  if (mig != nullptr)
    return Say(rung, GpuUsed::kYes, "device_mig",
               {{"gpu", mig->entity.id.substr(1)}, {"power", Format("{:.0f} W", *mig->value.AsDouble())}});
  if (busiest.duty < 0) return Silent(rung);
  const Fact* power = evidence.Find("gpu.power.watts", busiest.gpu);
  const std::optional<double> watts = power != nullptr ? power->value.AsDouble() : std::nullopt;
  const std::map<std::string, std::string> params = {{"gpu", busiest.gpu.id.substr(1)},
                                                     {"duty", Format("{:.0f}", busiest.duty * 100)},
                                                     {"power", watts ? Format("{:.0f} W", *watts) : ""}};
  if (busiest.works) return Say(rung, GpuUsed::kYes, watts ? "device_busy" : "device_busy_plain", params);
  return Say(rung, GpuUsed::kUnknown, watts ? "device_idle" : "device_idle_plain", params);
}

}  // namespace

Ladder ClimbText(const Evidence& evidence) {
  const Busiest busiest = FindBusiest(evidence);
  Ladder ladder;
  ladder.rungs = {Framework(evidence), Cuda(evidence), System(evidence), Driver(evidence), Device(evidence, busiest)};
  const GpuUsed framework = ladder.rung(Source::kFramework).gpu_used, driver = ladder.rung(Source::kDriver).gpu_used;
  if (framework == GpuUsed::kNo) {
    ladder.gpu_used = GpuUsed::kNo;
    ladder.confidence = 0.95;  // the framework itself says so
  } else if (driver == GpuUsed::kYes || ladder.rung(Source::kDevice).gpu_used == GpuUsed::kYes ||
             framework == GpuUsed::kYes || ladder.rung(Source::kOs).gpu_used == GpuUsed::kYes) {
    ladder.gpu_used = GpuUsed::kYes;
    const bool two = driver == GpuUsed::kYes || (busiest.works && (busiest.compute || framework == GpuUsed::kYes));
    ladder.confidence = two ? 0.8 : 0.6;
  } else if (ladder.rung(Source::kCuda).gpu_used == GpuUsed::kNo) {
    ladder.gpu_used = GpuUsed::kNo;
    ladder.confidence = 0.8;
  }
  return ladder;
}

}  // namespace gpuwhy
