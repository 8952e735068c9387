// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_code_runs_on_cpu;

namespace {

constexpr std::string_view kNeeds[] = {"framework.torch.parameters.cpu_bytes", "framework.torch.cuda_available",
                                       "window.kernels.count"};

bool OnCpu(const RuleContext& context, const char* gpu_bytes, const char* cpu_bytes) {
  const Fact* gpu = MainFact(context, gpu_bytes);
  const Fact* cpu = MainFact(context, cpu_bytes);
  return gpu != nullptr && cpu != nullptr && gpu->value.AsInt() == 0 && cpu->value.AsInt().value_or(0) > 0;
}

void AddEvidence(const RuleContext& context, Finding& finding) {
  for (const char* name :
       {"framework.torch.parameters.cpu_bytes", "framework.torch.parameters.cuda_bytes",
        "framework.torch.cuda_available", "framework.torch.inputs.device", "framework.tensorflow.variables.cpu_bytes",
        "framework.tensorflow.gpu_count", "process.libcuda"}) {
    AddItem(finding, MainFact(context, name));
  }
  AddItem(finding, MetricItem(context.analysis, "window.kernels.count", Source::kCuda));
  AddItem(finding, MetricItem(context.analysis, "job.cpu.seconds", Source::kOs));
}

// A part of the model stayed behind: the GPU works, and waits for the CPU at every border.
RuleOutcome CheckSplit(const RuleContext& context) {
  if (context.ladder.rung(Source::kFramework).gpu_used != GpuUsed::kPartly) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_code_runs_on_cpu, Severity::kWarning, kStated);
  const Fact* gpu = MainFact(context, "framework.torch.parameters.cuda_bytes");
  const Fact* cpu = MainFact(context, "framework.torch.parameters.cpu_bytes");
  const double on_gpu = gpu != nullptr ? gpu->value.AsDouble().value_or(0) : 0,
               on_cpu = cpu != nullptr ? cpu->value.AsDouble().value_or(0) : 0;
  const bool measured = on_gpu + on_cpu > 0;
  finding.Param("how", measured ? "@placement.split" : "@placement.split_unmeasured");
  if (measured) finding.Param("cpu_share", ShowPercent(on_cpu / (on_gpu + on_cpu)));
  AddEvidence(context, finding);
  return RuleOutcome::Fired(std::move(finding));
}

Finding DescribeText(const RuleContext& context, double confidence, const char* how) {
  Finding finding = MakeFinding(kRule_code_runs_on_cpu, Severity::kError, confidence);
  finding.implies = GpuUsed::kNo;
  const Fact* asked = MainFact(context, "framework.device_requested");
  finding.Param("how", how);
  if (asked != nullptr) finding.Param("asked", asked->value.Show());
  return finding;
}

bool ComputesSomewhere(const Evidence& evidence) {
  for (const Fact* type : evidence.All("process.gpu.type")) {
    if (type->value.Show().find('C') != std::string::npos) return true;
  }
  return false;
}

// A torch.device that nothing is moved to, on a machine whose GPU works and where no process computes. A relation of
// three, so a text may show it although each alone proves nothing.
bool NothingMoved(const Evidence& evidence, const RuleContext& context) {
  const Fact* available = MainFact(context, "framework.torch.cuda_available");
  const Fact* box = evidence.Find("driver.processes.box");
  return Said(evidence, "code_torch_device") != nullptr && Said(evidence, "code_moves") == nullptr &&
         available != nullptr && available->value.AsBool() == true && box != nullptr &&
         box->value.AsText() != "empty" && !ComputesSomewhere(evidence) &&
         context.ladder.rung(Source::kDevice).gpu_used != GpuUsed::kYes;
}

RuleOutcome CheckText(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  const Fact* asked = MainFact(context, "framework.device_requested");
  if (asked != nullptr && asked->value.AsText() == "cpu" && context.ladder.gpu_used != GpuUsed::kYes) {
    Finding finding = DescribeText(context, kStated, "@placement.asked");
    AddItem(finding, asked);
    AddItem(finding, MainFact(context, "framework.on_cpu"));
    return RuleOutcome::Fired(std::move(finding));
  }
  // A model on the CPU beside a GPU that PyTorch could use: the program never moved it.
  const Fact* there = MainFact(context, "framework.torch.parameters.on_cpu");
  const Fact* could = MainFact(context, "framework.torch.cuda_available");
  const Fact* also = MainFact(context, "framework.on_gpu");
  if (there != nullptr && there->value.AsBool() == true && could != nullptr && could->value.AsBool() == true &&
      also == nullptr && context.ladder.gpu_used != GpuUsed::kYes) {
    Finding finding = DescribeText(context, kTwoWitnesses, "@placement.stayed");
    finding.frameworks = {"pytorch"};
    AddItem(finding, there);
    AddItem(finding, could);
    return RuleOutcome::Fired(std::move(finding));
  }
  if (const Fact* unused = Said(evidence, "lightning_gpu_unused");
      unused != nullptr && context.ladder.gpu_used == GpuUsed::kNo) {
    Finding finding = DescribeText(context, kStated, "@placement.unused");
    AddItem(finding, unused);
    return RuleOutcome::Fired(std::move(finding));
  }
  if (!NothingMoved(evidence, context))
    return RuleOutcome::CannotTell({"framework.device_requested", "framework.torch.parameters.cpu_bytes"});
  Finding finding = DescribeText(context, kOneWitness, "@placement.not_moved");
  finding.frameworks = {"pytorch"};
  AddItem(finding, Said(evidence, "code_torch_device"));
  AddItem(finding, MainFact(context, "framework.torch.cuda_available"));
  for (const Fact* type : evidence.All("process.gpu.type")) AddItem(finding, type);
  for (const Fact* use : evidence.All("gpu.utilization.ratio")) AddItem(finding, use);
  return RuleOutcome::Fired(std::move(finding));
}

RuleOutcome Check(const RuleContext& context) {
  if (FromText(context.evidence)) return CheckText(context);
  const Analysis& analysis = context.analysis;
  if (context.ladder.gpu_used == GpuUsed::kYes) return RuleOutcome::Clear();
  if (context.ladder.gpu_used == GpuUsed::kPartly) return CheckSplit(context);
  bool can = false, cannot = false, seen_any = false;
  for (const FrameworkSeen& seen : FrameworksSeen(context)) {
    if (!seen.in_job) continue;
    seen_any = true;
    can = can || seen.sees_gpu == true;
    cannot = cannot || seen.sees_gpu == false || seen.cuda == "";
  }
  if (cannot && !can) return RuleOutcome::Clear();  // it cannot: something else is the cause
  const bool placed =
      OnCpu(context, "framework.torch.parameters.cuda_bytes", "framework.torch.parameters.cpu_bytes") ||
      OnCpu(context, "framework.tensorflow.variables.gpu_bytes", "framework.tensorflow.variables.cpu_bytes");
  const bool silent = context.ladder.gpu_used == GpuUsed::kNo;
  if (!context.ladder.worked || (!placed && !silent))
    return RuleOutcome::CannotTell({"framework.torch.parameters.cpu_bytes", "run.steps.count"});
  if (!silent || GpuPresent(context.evidence) == false) return RuleOutcome::Clear();
  // A program of an unknown kind that never touched CUDA may not want a GPU at all: a warning, not an error.
  Finding finding = MakeFinding(kRule_code_runs_on_cpu, placed ? Severity::kError : Severity::kWarning,
                                placed ? (can ? kStated : kTwoWitnesses) : kOneWitness);
  finding.Param("cpu_share", "100 %").Param("how", "@placement.worked");
  finding.Param("steps", std::to_string(analysis.steps_total))
      .Param("framework",
             seen_any ? context.ladder.rung(Source::kFramework).params.count("version") != 0 ? "framework" : "program"
                      : "program");
  AddEvidence(context, finding);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_code_runs_on_cpu{
    .id = "GW401", .name = "code-runs-on-cpu", .since = "0.1", .stage = Stage::kCode, .needs = kNeeds, .check = &Check};

}  // namespace gpuwhy::rules
