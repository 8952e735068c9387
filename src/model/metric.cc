// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "model/metric.h"

#include <array>

namespace gpuwhy {
namespace {

constexpr MetricKind kGauge = MetricKind::kGauge;
constexpr MetricKind kCounter = MetricKind::kCounter;

// Sampled by witnesses (gpu.*, process.*, host.*) or derived from the whole run (run.*, input.*, window.*).
constexpr Metric kMetrics[] = {
    {"gpu.utilization.ratio", "ratio", kGauge,
     "duty cycle: share of the driver's sample period in which a kernel ran (NVML utilization.gpu)"},
    {"gpu.memory_utilization.ratio", "ratio", kGauge,
     "share of time in which device memory was read or written (NVML utilization.memory)"},
    {"gpu.memory.used.bytes", "bytes", kGauge, "device memory in use, the driver's reserved part included"},
    {"gpu.power.watts", "watts", kGauge, "board power"},
    {"gpu.temperature.celsius", "celsius", kGauge, "GPU temperature"},
    {"gpu.clock.sm.hertz", "hertz", kGauge, "SM clock"},
    {"gpu.clock.memory.hertz", "hertz", kGauge, "memory clock"},
    {"gpu.pstate", "", kGauge, "performance state, 0 the highest"},
    {"gpu.clock_event_reasons", "", kGauge, "bit mask of NVML clocks event reasons"},
    {"gpu.energy.joules", "joules", kCounter, "energy since the driver was loaded"},
    {"gpu.throttle.power.seconds", "seconds", kCounter, "time with clocks held down by the power cap"},
    {"gpu.throttle.sw_thermal.seconds", "seconds", kCounter,
     "time with clocks held down by software because of temperature"},
    {"gpu.throttle.hw_thermal.seconds", "seconds", kCounter,
     "time with clocks held down by hardware because of temperature"},
    {"gpu.throttle.hw_power_brake.seconds", "seconds", kCounter, "time with clocks held down by the power brake"},
    {"gpu.pcie.tx.bytes_per_second", "bytes_per_second", kGauge, "PCIe traffic from the GPU"},
    {"gpu.pcie.rx.bytes_per_second", "bytes_per_second", kGauge, "PCIe traffic to the GPU"},
    {"gpu.gpm.graphics.ratio", "ratio", kGauge, "graphics/compute engine active (GPM)"},
    {"gpu.gpm.sm.ratio", "ratio", kGauge, "SMs with at least one warp (GPM)"},
    {"gpu.gpm.occupancy.ratio", "ratio", kGauge, "resident warps of the possible ones (GPM)"},
    {"gpu.gpm.tensor.ratio", "ratio", kGauge, "tensor cores active (GPM)"},
    {"gpu.gpm.dram.ratio", "ratio", kGauge, "device memory bandwidth in use (GPM)"},
    {"gpu.processes.count", "", kGauge, "processes in the driver's lists of one GPU, graphics included"},
    {"process.gpu.sm.ratio", "ratio", kGauge, "SM use that the driver's samples give to one process on one GPU"},
    {"process.gpu.memory.bytes", "bytes", kGauge, "device memory of one process on one GPU"},
    {"process.cpu.seconds", "seconds", kCounter, "CPU time of a process, user and system"},
    {"process.cpu.main_thread.seconds", "seconds", kCounter, "CPU time of the main thread"},
    {"process.io_wait.seconds", "seconds", kCounter, "time waiting for block devices (delay accounting)"},
    {"process.uninterruptible.ratio", "ratio", kGauge,
     "1 where a look met the process in uninterruptible sleep (it waits for a device), else 0"},
    {"process.run_delay.seconds", "seconds", kCounter,
     "time that the main thread was ready to run and waited for a core (schedstat)"},
    {"process.read.bytes", "bytes", kCounter, "bytes read from storage"},
    {"process.memory.rss.bytes", "bytes", kGauge, "resident memory of a process"},
    {"process.threads.count", "", kGauge, "threads of a process"},
    {"process.input_wait.seconds", "seconds", kCounter, "time in the __next__ of training data loaders"},
    {"process.steps.count", "", kCounter, "optimizer steps, or steps of Keras train calls where these are more"},
    {"framework.memory.allocated.bytes", "bytes", kGauge, "device memory in a framework's tensors, after a step"},
    {"framework.memory.reserved.bytes", "bytes", kGauge, "device memory that a framework's allocator holds"},
    {"framework.memory.device_allocs", "", kCounter, "allocations of a framework's allocator from the driver"},
    {"framework.memory.retries", "", kCounter, "allocations that succeeded only after the cache was emptied"},
    {"cuda.kernels.count", "", kGauge,
     "permanent tracing: kernels of a process since the last reading, about a second"},
    {"cuda.busy.seconds", "seconds", kGauge,
     "permanent tracing: time with a kernel running since the last reading, summed over the GPUs of a process"},
    {"cuda.copy.bytes", "bytes", kGauge,
     "permanent tracing: bytes copied by the GPUs of a process since the last reading"},
    {"job.cpu.seconds", "seconds", kCounter, "CPU time of the whole process tree of the job"},
    {"job.processes", "", kGauge, "living processes of the job"},
    {"run.wall.seconds", "seconds", kGauge, "wall time of the job"},
    {"run.steady.seconds", "seconds", kGauge,
     "wall time of the steady state: from the end of warm-up to the last step"},
    {"run.steps.count", "", kGauge, "optimizer steps in the steady state"},
    {"run.step.seconds", "seconds", kGauge, "mean time of a step in the steady state"},
    {"run.items_per_second", "", kGauge, "samples a second in the steady state"},
    {"run.gpu_busy.ratio", "ratio", kGauge, "share of the timing window in which a kernel ran (union over streams)"},
    {"run.duty_cycle.ratio", "ratio", kGauge, "mean of gpu.utilization.ratio over the job's life on its GPU"},
    {"input.wait.ratio", "ratio", kGauge, "share of the steady state spent in the data loader's __next__"},
    {"input.exposed.ratio", "ratio", kGauge,
     "share of the steady state spent waiting for input while the GPU was idle"},
    {"input.overlapped.ratio", "ratio", kGauge,
     "share of the steady state spent waiting for input while the GPU was working"},
    {"input.workers.cores", "", kGauge,
     "CPU cores in use by the processes that the main process started, steady state"},
    {"checkpoint.ratio", "ratio", kGauge, "share of the steady state spent writing checkpoints"},
    {"host.own_work.ratio", "ratio", kGauge,
     "share of time in which the GPU was idle while the host did something of its own: the named part of `other`"},
    {"host.compiling.ratio", "ratio", kGauge,
     "share of time in which the GPU was idle while the host compiled or collected garbage: a part of `other`"},
    {"host.looks.count", "", kGauge, "looks at the stacks of the launching Python threads in the windows"},
    {"host.looks.input.ratio", "ratio", kGauge, "share of these looks that met a data loader"},
    {"host.looks.sync.ratio", "ratio", kGauge, "share of these looks that met a synchronising call"},
    {"host.looks.dispatch.ratio", "ratio", kGauge, "share of these looks that met a framework dispatching work"},
    {"host.looks.checkpoint.ratio", "ratio", kGauge, "share of these looks that met a checkpoint being written"},
    {"host.looks.compile.ratio", "ratio", kGauge, "share of these looks that met a compilation"},
    {"host.looks.idle.ratio", "ratio", kGauge, "share of these looks that met a thread asleep or waiting"},
    {"host.looks.other.ratio", "ratio", kGauge, "share of these looks that met code of the job's own"},
    {"window.kernels.count", "", kGauge, "kernels seen in all windows"},
    {"window.seconds", "seconds", kGauge, "length of the timing windows"},
    {"window.cost.seconds", "seconds", kGauge, "job time spent in our own calls in all windows"},
    {"window.kernel.median.seconds", "seconds", kGauge, "median duration of a kernel in the timing windows"},
    {"window.launches_per_second", "", kGauge, "kernels a second in the timing windows"},
    {"window.copy.pageable.bytes", "bytes", kGauge, "bytes copied to or from pageable memory in the timing windows"},
    {"window.copy.pinned.bytes", "bytes", kGauge, "bytes copied to or from pinned memory in the timing windows"},
    {"window.copy.pageable.ratio", "ratio", kGauge,
     "share of the timing windows in which a pageable copy ran and no kernel"},
    {"window.sync.ratio", "ratio", kGauge,
     "share of the synchronisation window that a host thread spent blocked in synchronising calls"},
    {"window.syncs_per_second", "", kGauge, "synchronising calls a second in the synchronisation window"},
    {"agent.hook.seconds_per_step", "seconds", kGauge, "time that gpuwhy's own hooks took a step"},
};

}  // namespace

std::span<const Metric> Metrics() { return kMetrics; }

const Metric* FindMetric(std::string_view name) {
  for (const Metric& metric : kMetrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

std::string_view UnitOf(std::string_view name) {
  if (const Metric* metric = FindMetric(name)) return metric->unit;
  constexpr std::array<std::string_view, 8> kUnits = {"ratio",   "bytes", "seconds", "watts",
                                                      "celsius", "hertz", "joules",  "bytes_per_second"};
  for (const std::string_view unit : kUnits) {
    const size_t size = unit.size() + 1;
    if (name.size() > size && name.substr(name.size() - unit.size()) == unit &&
        (name[name.size() - size] == '.' || name[name.size() - size] == '_'))
      return unit;
  }
  return "";
}

}  // namespace gpuwhy
