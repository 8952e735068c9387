// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
// CPU time that one poll of the os witness costs: a job of PROCESSES processes with THREADS threads each, polled POLLS
// times with a second of session time between two polls (no real waiting: the cost does not depend on it).
//   os_sampler [PROCESSES] [THREADS] [POLLS]      default 20 8 60; prints one line of JSON
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "model/evidence.h"
#include "witness/witness.h"

namespace gpuwhy {
extern const WitnessInfo kWitness_os;
namespace {

// Takes what a witness pushes and keeps only counts: the store is not what is measured.
class CountingSink : public EvidenceSink {
 public:
  void Add(const Fact&) override { ++facts; }
  void Add(const Sample&) override { ++samples; }
  void Add(const Span&) override {}
  void Add(const StepMark&) override {}
  void Add(const HostSample&) override {}
  void Add(const Gap&) override {}
  uint32_t Intern(std::string_view) override { return 0; }
  size_t facts = 0, samples = 0;
};

double CpuMilliseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

void* Sleep(void*) {
  while (true) pause();
}

// A process with as many mappings as one that imported PyTorch (about 1500) and its threads.
[[noreturn]] void Work(int threads) {
  for (int i = 0; i < 750; ++i) {
    char* block = static_cast<char*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (block != MAP_FAILED) mprotect(block, 4096, PROT_READ | PROT_WRITE);
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  for (int i = 1; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, &Sleep, nullptr) != 0) break;
  }
  Sleep(nullptr);
  _exit(0);
}

pid_t StartJob(int processes, int threads) {
  const pid_t job = fork();
  if (job != 0) return job;
  setpgid(0, 0);
  for (int i = 1; i < processes; ++i) {
    if (fork() == 0) Work(threads);
  }
  Work(threads);
}

int Run(int processes, int threads, int polls) {
  const pid_t job = StartJob(processes, threads);
  if (job < 0) {
    std::perror("os_sampler: fork");
    return 2;
  }
  setpgid(job, job);
  sleep(1);
  CountingSink sink;
  WitnessContext context;
  context.job_pid = job;
  const std::unique_ptr<Witness> witness = kWitness_os.create();
  const double before_start = CpuMilliseconds();
  witness->Start(context, sink);
  const double start_cost = CpuMilliseconds() - before_start;
  std::vector<double> costs;
  for (int i = 0; i < polls; ++i) {
    const double before = CpuMilliseconds();
    witness->Poll(i, sink);
    costs.push_back(CpuMilliseconds() - before);
  }
  const size_t seen = witness->KnownProcesses().size();
  witness->Stop(polls, sink);
  kill(-job, SIGKILL);
  waitpid(job, nullptr, 0);
  double sum = 0;
  for (const double cost : costs) sum += cost;
  std::sort(costs.begin(), costs.end());
  std::printf(
      "{\"processes\": %zu, \"threads_each\": %d, \"polls\": %d, \"start_ms\": %.3f, \"poll_mean_ms\": %.3f, "
      "\"poll_median_ms\": %.3f, "
      "\"poll_max_ms\": %.3f, \"facts\": %zu, \"samples\": %zu}\n",
      seen, threads, polls, start_cost, sum / polls, costs[costs.size() / 2], costs.back(), sink.facts, sink.samples);
  return seen == static_cast<size_t>(processes) ? 0 : 1;
}

}  // namespace
}  // namespace gpuwhy

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 20;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 8;
  const int polls = argc > 3 ? std::atoi(argv[3]) : 60;
  if (processes < 1 || threads < 1 || polls < 1) {
    std::fprintf(stderr, "usage: os_sampler [PROCESSES] [THREADS] [POLLS]\n");
    return 2;
  }
  return gpuwhy::Run(processes, threads, polls);
}
