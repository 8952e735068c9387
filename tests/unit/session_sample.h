// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_UNIT_SESSION_SAMPLE_H_
#define GPUWHY_TESTS_UNIT_SESSION_SAMPLE_H_

#include <string>

#include "model/evidence.h"
#include "report/reporter.h"

namespace gpuwhy {

// What `gpuwhy ... --json -v` prints of a report.
inline std::string RenderJson(const Report& report) {
  report::Options options;
  options.format = "json";
  options.verbose = true;
  for (const report::Reporter* reporter : report::AllReporters()) {
    if (reporter->name == "json") return reporter->render(report, options);
  }
  return "";
}

// A made-up job of 30 s with evidence of every kind: 300 steps of 100 ms, of which 60 ms are a wait for input and 30 ms
// kernels; a timing window and a synchronisation window of one second each; facts in every state; two processes.
class SampleJob {
 public:
  static constexpr int64_t kPid = 4321, kWorker = 4322;

  explicit SampleJob(EvidenceSink& sink) : sink_(sink) {}

  void Push() {
    Facts();
    sink_.Add(Gap{"the GPU's fans", "NVML says: not supported", "nothing to do"});
    Windows();
    for (int step = 1; step <= 300; ++step) Step(step);
    Samples();
    Host();
  }

 private:
  static constexpr int64_t kMs = 1'000'000;

  void Fact(const char* name, Value value, Entity entity = Entity::Process(kPid), Source source = Source::kFramework) {
    sink_.AddFact(name, std::move(entity), std::move(value), source, "", 0.25);
  }

  void Facts() {
    Fact("job.wall.seconds", Value::Of(30.5), Entity::Host(), Source::kOs);
    Fact("job.command", Value::Of(std::string("python train.py \xe7\x8c\xab \xff")), Entity::Host(), Source::kOs);
    Fact("driver.nvml.ok", Value::Of(true), Entity::Host(), Source::kDriver);
    Fact("driver.nvml.tried", Value::Of(StringList{"a: no", "b: found"}), Entity::Host(), Source::kDriver);
    Fact("driver.nvml.missing_functions", Value::Of(StringList{}), Entity::Host(), Source::kDriver);
    Fact("gpu.name", Value::Of(std::string("NVIDIA H200")), Entity::Gpu("GPU-1"), Source::kDriver);
    Fact("gpu.fan.ratio", Value::Missing(State::kUnsupported, "N/A"), Entity::Gpu("GPU-1"), Source::kDriver);
    Fact("gpu.serial", Value::Missing(State::kNoPermission, ""), Entity::Gpu("GPU-1"), Source::kDriver);
    Fact("process.gpu.listed", Value::Of(true), Entity::ProcessOnGpu(kPid, "GPU-1"), Source::kDriver);
    Fact("framework.torch.version", Value::Of(std::string("2.11.0+cu130")));
    Fact("framework.torch.cuda_available", Value::Of(true));
    Fact("framework.torch.parameters.cuda_bytes", Value::Of(int64_t{9'007'199'254'740'993}));
    Fact("framework.torch.parameters.cpu_bytes", Value::Of(int64_t{0}));
    Fact("framework.ratio", Value::Of(1.0 / 3));
  }

  void Window(int64_t start_ns, uint32_t mode) {
    Span span{SpanKind::kWindow, kPid, start_ns, 1000 * kMs};
    span.detail[0] = mode;
    sink_.Add(span);
  }

  void Windows() {
    Window(5000 * kMs, 2);
    Window(6000 * kMs, 3);
    name_ = sink_.Intern("void gemm<float>(int)");
    frame_ = sink_.Intern("/home/\xe9/train.py:12");
    call_ = sink_.Intern("cudaStreamSynchronize");
  }

  void Step(int step) {
    const int64_t start = 100 * kMs * step;
    sink_.Add(Span{SpanKind::kInputWait, kPid, start, 60 * kMs, -1, 77, 0, 0, {32, 0, 0}});
    if (step % 100 == 0) sink_.Add(Span{SpanKind::kCheckpoint, kPid, start + 95 * kMs, 2 * kMs, -1, 77});
    if (start >= 5000 * kMs && start < 6000 * kMs) GpuWork(start + 60 * kMs);
    if (start >= 6000 * kMs && start < 7000 * kMs) {
      sink_.Add(Span{SpanKind::kSyncCall, kPid, start + 70 * kMs, 5 * kMs, -1, 77, call_, 0, {131, 2, 0}});
      sink_.Add(Span{SpanKind::kCopyCall, kPid, start + 62 * kMs, kMs, -1, 77, 0, 0, {41, 2, 0}});
    }
    const auto count = static_cast<uint64_t>(step);
    sink_.Add(StepMark{kPid, start + 100 * kMs, count, count * 60 * kMs, count / 100 * 2 * kMs, count * 32, 1500});
    if (step % 10 == 0) sink_.Add(StepMark{kWorker, start + 100 * kMs, count / 10, 0, 0, 0, 0});
  }

  void GpuWork(int64_t start) {
    for (int i = 0; i < 10; ++i) {
      sink_.Add(Span{SpanKind::kKernel, kPid, start + i * 3 * kMs, 2 * kMs, 0, 7, name_, 0, {1056, 256, 1}});
    }
    sink_.Add(Span{SpanKind::kCopy, kPid, start + 31 * kMs, 4 * kMs, 0, 7, 0, 1 << 20, {1, 1, 3}});
    sink_.Add(Span{SpanKind::kMemset, kPid, start + 36 * kMs, kMs, 0, 7, 0, 4096, {3, 0, 0}});
    sink_.Add(Span{SpanKind::kKernel, kWorker, start, kMs, 1, 7, name_, 0, {1, 32, 0}});
  }

  void Samples() {
    for (int second = 0; second < 31; ++second) {
      const double time = second + 0.125;
      sink_.Add(Sample{"gpu.utilization.ratio", Entity::Gpu("GPU-1"), time, second % 2 == 0 ? 0.3 : 0.28});
      sink_.Add(Sample{"gpu.power.watts", Entity::Gpu("GPU-1"), time, 201.3 + second});
      sink_.Add(Sample{"gpu.power.watts", Entity::Gpu("GPU-1"), time, 203.7 + second});  // two buffers, one time
      sink_.Add(Sample{"process.gpu.sm.ratio", Entity::ProcessOnGpu(kPid, "GPU-1"), time, 0.29});
      sink_.Add(Sample{"process.cpu.seconds", Entity::Process(kPid), time, second * 0.9});
      sink_.Add(Sample{"job.cpu.seconds", Entity::Host(), time, second * 0.95});
    }
  }

  void Host() {
    for (int i = 0; i < 40; ++i) {
      sink_.Add(HostSample{i % 8 == 0 ? kWorker : kPid, 5000 * kMs + i * 25 * kMs, i % 2 == 0 ? 1U : 3U,
                           i % 3 == 0 ? frame_ : 0U});
    }
  }

  EvidenceSink& sink_;
  uint32_t name_ = 0, frame_ = 0, call_ = 0;
};

}  // namespace gpuwhy

#endif  // GPUWHY_TESTS_UNIT_SESSION_SAMPLE_H_
