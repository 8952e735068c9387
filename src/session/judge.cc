// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "engine/engine.h"
#include "engine/rule.h"
#include "model/metric.h"
#include "session/machine.h"

namespace gpuwhy {
namespace {

constexpr double kRecentSeconds = 5;        // "now" of the duty cycle: long enough for a slow training step
constexpr double kWorks = 0.01;             // the driver counts in whole per cent
constexpr double kWorthNaming = 256 << 20;  // a bare CUDA context holds less than this beside data
constexpr const char* kJobCommand = "gpuwhy run -- python train.py";

// Where one of these holds, no program can use an NVIDIA GPU here, whatever it is.
bool StopsEverything(const Finding& finding) {
  for (const char* cause : {"no-gpu-present", "driver-missing", "driver-not-loaded", "driver-library-mismatch"}) {
    if (finding.cause == cause) return finding.severity == Severity::kError && finding.confidence >= kTwoWitnesses;
  }
  return false;
}

bool SpeaksOfJob(const Finding& finding) {
  if (finding.cause == "vgpu-unlicensed") return false;  // a state of the machine, whatever runs
  for (const Rule* rule : AllRules()) {
    if (rule->id != finding.id) continue;
    return rule->stage == Stage::kCode || rule->stage == Stage::kSpeed || rule->stage == Stage::kVerdict ||
           finding.cause == "witnesses-disagree";
  }
  return false;
}

// Readings of one GPU or process, as facts.
class Readings {
 public:
  Readings(const Evidence& evidence, Report& report) : evidence_(evidence), report_(report) {}

  void Put(const std::string& name, const Entity& entity, Value value, Source source) {
    for (Fact& fact : report_.subject) {
      if (fact.name != name || fact.entity != entity) continue;
      fact.value = std::move(value);
      return;
    }
    report_.subject.push_back({name, entity, std::move(value), source, "", 0});
  }

  // The last sample; without one, what the witness said of it; without that, unknown.
  void PutLast(const char* name, const Entity& entity, Source source) {
    const Series& series = evidence_.Samples(name, entity);
    if (!series.empty()) return Put(name, entity, Value::Of(series.back().value), source);
    const Fact* fact = evidence_.Find(name, entity);
    Put(name, entity, fact != nullptr ? fact->value : Value::Missing(State::kUnknown, "the driver gave no reading"),
        source);
  }

  void PutGpu(const Entity& gpu) {
    for (const char* name : {"gpu.memory.used.bytes", "gpu.power.watts", "gpu.temperature.celsius", "gpu.pstate",
                             "gpu.clock.sm.hertz", "gpu.clock.memory.hertz"}) {
      PutLast(name, gpu, Source::kDevice);
    }
    PutLast("gpu.utilization.ratio", gpu, Source::kDevice);
    const Series recent = Recent(gpu);
    if (recent.empty()) return;
    const auto less = [](const Point& a, const Point& b) { return a.value < b.value; };
    Put("gpu.utilization.ratio", gpu, Value::Of(*MeanOf(recent, -1e18, 1e18)), Source::kDevice);
    Put("gpu.utilization.min.ratio", gpu, Value::Of(std::min_element(recent.begin(), recent.end(), less)->value),
        Source::kDevice);
    Put("gpu.utilization.max.ratio", gpu, Value::Of(std::max_element(recent.begin(), recent.end(), less)->value),
        Source::kDevice);
    Put("gpu.utilization.samples.count", gpu, Value::Of(static_cast<int64_t>(recent.size())), Source::kDevice);
    Put("gpu.utilization.span.seconds", gpu, Value::Of(recent.back().time_s - recent.front().time_s), Source::kDevice);
  }

  void PutProcess(const Entity& process) {
    for (const char* name : {"process.name", "process.user", "process.gpu.type", "process.gpu.listed"})
      PutLast(name, process, Source::kOs);
    for (const char* name : {"process.gpu.memory.bytes", "process.gpu.sm.ratio"})
      PutLast(name, process, Source::kDriver);
  }

  // Duty cycle of the last seconds: the driver's own buffer and the reading of now.
  Series Recent(const Entity& gpu) const {
    Series recent;
    const Series& all = evidence_.Samples("gpu.utilization.ratio", gpu);
    for (const Point& point : all) {
      if (point.time_s >= all.back().time_s - kRecentSeconds) recent.push_back(point);
    }
    return recent;
  }

 private:
  const Evidence& evidence_;
  Report& report_;
};

double LastOf(const Evidence& evidence, const char* metric, const Entity& entity, double fallback) {
  const Series& series = evidence.Samples(metric, entity);
  return series.empty() ? fallback : series.back().value;
}

// The process that holds most memory on a GPU on which nothing ran for the seconds that the driver remembers. Only a
// hint: a look of some seconds proves no waste, so that it never decides.
void AddHeldButIdle(const Evidence& evidence, const Readings& readings, Report& report) {
  const Entity* worst = nullptr;
  double held = 0, seconds = 0;
  const std::vector<Entity> processes = evidence.Entities(EntityKind::kProcessOnGpu);
  for (const Entity& process : processes) {
    const double bytes = LastOf(evidence, "process.gpu.memory.bytes", process, 0);
    const Series recent = readings.Recent(Entity::Gpu(process.gpu()));
    const bool at_rest = recent.size() > 1 && MaxOf(recent, -1e18, 1e18) == 0.0 &&
                         LastOf(evidence, "process.gpu.sm.ratio", process, 1) == 0;
    if (!at_rest || bytes < kWorthNaming || bytes <= held) continue;
    worst = &process;
    held = bytes;
    seconds = recent.back().time_s - recent.front().time_s;
  }
  if (worst == nullptr) return;
  for (const Rule* rule : AllRules()) {
    if (rule->name != "gpu-allocated-but-idle") continue;
    Finding finding = MakeFinding(*rule, Severity::kInfo, kOneWitness);
    finding.Param("held", Format("{:.1f} GiB", held / (1 << 30)))
        .Param("seconds", Format("{:.1f}", seconds))
        .Param("pid", std::to_string(worst->pid()));
    const Fact* name = evidence.Find("process.name", *worst);
    finding.Param("name", name != nullptr && name->value.known() ? name->value.Show() : "?");
    finding.evidence.push_back(
        {"process.gpu.memory.bytes", Value::Of(held), "bytes", Source::kDriver, Format("pid {}", worst->pid())});
    finding.evidence.push_back(
        {"process.gpu.sm.ratio", Value::Of(0.0), "ratio", Source::kDriver, Format("pid {}", worst->pid())});
    report.findings.push_back(std::move(finding));
  }
}

void SetVerdict(const Evidence& evidence, bool snapshot, Report& report) {
  Verdict& verdict = report.verdict;
  verdict = Verdict{};
  verdict.next = kJobCommand;
  verdict.summary = snapshot ? "snapshot.verdict.unknown" : "doctor.verdict.unknown";
  for (const Finding& finding : report.findings) {
    if (!StopsEverything(finding)) continue;
    verdict = {GpuUsed::kNo,
               finding.cause,
               finding.confidence,
               "doctor.verdict.no",
               {},
               finding.next.empty() ? "gpuwhy doctor" : finding.next};
    return;
  }
  int working = 0;
  double duty = 0;
  for (const Entity& process : evidence.Entities(EntityKind::kProcessOnGpu)) {
    if (LastOf(evidence, "process.gpu.sm.ratio", process, 0) < kWorks) continue;
    ++working;
    duty = std::max(
        duty, MaxOf(evidence.Samples("gpu.utilization.ratio", Entity::Gpu(process.gpu())), -1e18, 1e18).value_or(0));
  }
  if (snapshot && working > 0) {
    verdict.gpu_used = GpuUsed::kYes;
    verdict.cause = "gpu-in-use";
    verdict.confidence = duty >= kWorks ? kTwoWitnesses : kOneWitness;
    verdict.summary = "snapshot.verdict.yes";
    verdict.params["count"] = std::to_string(working);
    return;
  }
  for (const Finding& finding : report.findings) {
    if (finding.severity == Severity::kInfo) continue;
    verdict.cause = finding.cause;
    verdict.confidence = finding.confidence;
    return;
  }
}

}  // namespace

Report Judge(const Evidence& evidence) {
  Report report = Diagnose(evidence);
  const std::optional<std::string> kind = evidence.Text(kKindFact);
  if (kind != kKindSnapshot && kind != kKindDoctor) return report;
  report.findings.erase(std::remove_if(report.findings.begin(), report.findings.end(), SpeaksOfJob),
                        report.findings.end());
  report.subject.push_back(*evidence.Find(kKindFact));
  Readings readings(evidence, report);
  for (const Entity& gpu : evidence.Entities(EntityKind::kGpu)) {
    if (evidence.Find("gpu.name", gpu) != nullptr) readings.PutGpu(gpu);
  }
  for (const Entity& process : evidence.Entities(EntityKind::kProcessOnGpu)) readings.PutProcess(process);
  if (kind == kKindSnapshot) AddHeldButIdle(evidence, readings, report);
  SetVerdict(evidence, kind == kKindSnapshot, report);
  return report;
}

bool IsMachineReport(const Report& report) {
  return std::any_of(report.subject.begin(), report.subject.end(),
                     [](const Fact& fact) { return fact.name == kKindFact; });
}

}  // namespace gpuwhy
