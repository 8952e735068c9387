// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// What watching through NVML costs: time of a start, of a cheap poll and of the poll of a whole second, and the share
// of one core at the default rate.
//   nvml_sampler [seconds] [job PID]      library: GPUWHY_NVML, else the driver's own
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/host_root.h"
#include "model/evidence.h"
#include "witness/witness.h"

namespace gpuwhy {

extern const WitnessInfo kWitness_nvml;

namespace {

// Counts and forgets, so that only the witness is measured.
class CountingSink : public EvidenceSink {
 public:
  void Add(const Fact&) override { ++facts; }
  void Add(const Sample&) override { ++samples; }
  void Add(const Span&) override {}
  void Add(const StepMark&) override {}
  void Add(const HostSample&) override {}
  void Add(const Gap& gap) override { std::printf("gap: %s: %s\n", gap.what.c_str(), gap.why.c_str()); }
  uint32_t Intern(std::string_view) override { return 0; }

  unsigned long facts = 0, samples = 0;
};

int64_t CpuNs() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

void PrintRow(const char* what, const std::vector<double>& us) {
  std::printf("%-28s %6zu %10.1f %10.1f %10.1f\n", what, us.size(), Quantile(us, 0.5), Quantile(us, 0.95),
              Quantile(us, 1));
}

void SleepUntil(int64_t monotonic_ns) {
  const timespec until = {monotonic_ns / 1000000000, monotonic_ns % 1000000000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

int Main(double seconds, int64_t job_pid) {
  WitnessContext context;
  context.root = HostRoot::FromEnvironment();
  context.nvml_library = Environment("GPUWHY_NVML").value_or("");
  context.job_pid = job_pid;
  context.session_start_ns = MonotonicNs();
  CountingSink sink;
  const std::unique_ptr<Witness> witness = kWitness_nvml.create();
  witness->Start(context, sink);
  const double start_ms = static_cast<double>(MonotonicNs() - context.session_start_ns) * 1e-6;
  std::printf("start: %.2f ms (load, nvmlInit, %lu facts, %lu points of history)\n\n", start_ms, sink.facts,
              sink.samples);

  std::vector<double> fast, slow;
  const int64_t begin = MonotonicNs(), cpu_begin = CpuNs();
  const auto polls = static_cast<int64_t>(seconds / kWitness_nvml.period_s);
  for (int64_t at = 0; at < polls; ++at) {
    SleepUntil(begin + at * static_cast<int64_t>(kWitness_nvml.period_s * 1e9));
    const int64_t before = MonotonicNs();
    witness->Poll(static_cast<double>(before - context.session_start_ns) * 1e-9, sink);
    const double us = static_cast<double>(MonotonicNs() - before) * 1e-3;
    (at % 5 == 0 ? slow : fast).push_back(us);
  }
  const double cpu_s = static_cast<double>(CpuNs() - cpu_begin) * 1e-9;
  const double wall_s = static_cast<double>(MonotonicNs() - begin) * 1e-9;
  std::printf("%-28s %6s %10s %10s %10s\n", "microseconds", "n", "median", "95 %", "max");
  PrintRow("cheap poll (5 Hz)", fast);
  PrintRow("whole poll (1 Hz)", slow);
  std::printf("\nCPU: %.4f s in %.1f s = %.3f %% of one core; %lu samples\n", cpu_s, wall_s, 100 * cpu_s / wall_s,
              sink.samples);
  witness->Stop(wall_s, sink);
  return 0;
}

}  // namespace
}  // namespace gpuwhy

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 20;
  const int64_t job_pid = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 1;
  if (seconds < 1) {
    std::fprintf(stderr, "nvml_sampler: seconds must be at least 1; usage: nvml_sampler [seconds] [job PID]\n");
    return 2;
  }
  return gpuwhy::Main(seconds, job_pid);
}
