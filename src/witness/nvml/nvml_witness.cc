// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/format.h"
#include "witness/nvml/nvml_errors.h"
#include "witness/nvml/nvml_facts.h"
#include "witness/nvml/nvml_library.h"
#include "witness/nvml/nvml_sampler.h"
#include "witness/nvml/nvml_sleep.h"
#include "witness/witness.h"

namespace gpuwhy {
namespace nvml {
namespace {

constexpr double kPeriodSeconds = 0.2;
constexpr double kSlowSeconds = 1.0;
constexpr double kSlack = 0.05;  // a poll that comes a little early still counts as its second
constexpr unsigned kMostDevices = 256;

// The driver as a witness: what NVML says about the GPUs of this machine and who uses them.
class NvmlWitness : public Witness {
 public:
  void Start(const WitnessContext& context, EvidenceSink& sink) override;
  void Poll(double time_s, EvidenceSink& sink) override;
  void Stop(double time_s, EvidenceSink& sink) override;
  void JobProcesses(const std::vector<int64_t>& pids) override { job_ = {pids.begin(), pids.end()}; }

 private:
  bool LeaveAsleep(EvidenceSink& sink);
  void Initialise(EvidenceSink& sink);
  void AttachAll(EvidenceSink& sink);
  void AttachAwake(const std::vector<PciGpu>& gpus, EvidenceSink& sink);
  void AttachWoken(EvidenceSink& sink);
  void Attach(Return code, DeviceHandle handle, const std::string& what, EvidenceSink& sink);
  void CheckNamespace(double time_s, EvidenceSink& sink);

  WitnessContext context_;
  Library library_;
  std::vector<std::unique_ptr<DeviceSampler>> devices_;
  std::vector<std::string> asleep_;  // PCI addresses of GPUs that must not be woken
  std::set<int64_t> job_;
  std::set<int64_t> strangers_;  // listed PIDs that are no process here, seen once
  StringList device_errors_;
  bool running_ = false;
  bool namespace_known_ = false;
  int slow_polls_ = 0;
  double last_slow_s_ = -1e9;
};

void NvmlWitness::Start(const WitnessContext& context, EvidenceSink& sink) {
  context_ = context;
  if (context.job_pid > 0) job_.insert(context.job_pid);
  if (LeaveAsleep(sink)) return;
  Initialise(sink);
  if (!running_ || context.job_pid != 0) return;
  const double now_s = static_cast<double>(MonotonicNs() - context.session_start_ns) * 1e-9;
  for (const auto& device : devices_) device->ReadHistory(now_s, sink);
}

// nvmlInit and every handle wake a GPU that runtime power management has put to sleep (btop issue 1838). Who only looks
// leaves it asleep; a job wakes it anyway.
bool NvmlWitness::LeaveAsleep(EvidenceSink& sink) {
  const std::vector<PciGpu> gpus = NvidiaOnBus(context_.root);
  for (const PciGpu& gpu : gpus) {
    if (!gpu.asleep) continue;  // named by its UUID once it is attached: one GPU must not become two
    sink.AddFact("gpu.asleep", Entity::Gpu(NvmlBusId(gpu.address)), Value::Of(true), Source::kOs);
    asleep_.push_back(gpu.address);
  }
  if (asleep_.empty() || asleep_.size() != gpus.size() || context_.job_pid != 0) return false;
  sink.AddFact("driver.nvml.skipped", Entity::Host(), Value::Of(std::string("gpu-asleep")), Source::kDriver);
  sink.Add(Gap{"readings of the driver",
               "every NVIDIA GPU of this machine is suspended to save power, and asking the driver would wake it",
               "start something that uses the GPU, then look again"});
  return true;
}

void NvmlWitness::Initialise(EvidenceSink& sink) {
  library_ = Library::Open(context_.nvml_library, context_.root);
  const Return code = library_.loaded() ? Call(library_.api().init) : kLibraryNotFound;
  AddDriverFacts(library_, code, sink);
  running_ = code == kSuccess;
  if (!running_) {
    sink.Add(Gap{"readings of the driver", Explain(code), Advice(code)});
    return;
  }
  if (asleep_.empty()) {
    AttachAll(sink);
  } else {
    AttachAwake(NvidiaOnBus(context_.root), sink);
  }
  sink.AddFact("driver.gpu_count", Entity::Host(), Value::Of(static_cast<int64_t>(devices_.size())), Source::kDriver);
  if (!device_errors_.empty())
    sink.AddFact("driver.nvml.device_errors", Entity::Host(), Value::Of(device_errors_), Source::kDriver);
}

void NvmlWitness::AttachAll(EvidenceSink& sink) {
  unsigned count = 0;
  const Return code = Call(library_.api().device_count, &count);
  if (code != kSuccess) {
    sink.Add(Gap{"the list of GPUs", Explain(code), Advice(code)});
    return;
  }
  for (unsigned index = 0; index < count && index < kMostDevices; ++index) {
    DeviceHandle handle = nullptr;
    const Return handle_code = Call(library_.api().by_index, index, &handle);
    Attach(handle_code, handle, Format("GPU {} of the driver's list", index), sink);
  }
}

void NvmlWitness::AttachAwake(const std::vector<PciGpu>& gpus, EvidenceSink& sink) {
  for (const PciGpu& gpu : gpus) {
    if (gpu.asleep) continue;
    DeviceHandle handle = nullptr;
    const Return code = Call(library_.api().by_bus_id, NvmlBusId(gpu.address).c_str(), &handle);
    Attach(code, handle, "GPU " + gpu.address, sink);
  }
}

void NvmlWitness::AttachWoken(EvidenceSink& sink) {
  for (auto it = asleep_.begin(); it != asleep_.end();) {
    if (IsAsleep(context_.root, *it)) {
      ++it;
      continue;
    }
    DeviceHandle handle = nullptr;
    const Return code = Call(library_.api().by_bus_id, NvmlBusId(*it).c_str(), &handle);
    Attach(code, handle, "GPU " + *it, sink);
    sink.AddFact("gpu.asleep", Entity::Gpu(NvmlBusId(*it)), Value::Of(false), Source::kOs);
    it = asleep_.erase(it);
  }
}

void NvmlWitness::Attach(Return code, DeviceHandle handle, const std::string& what, EvidenceSink& sink) {
  Device device;
  if (code == kSuccess) device = Identify(library_, handle);
  if (code == kSuccess && device.entity.id.empty()) code = kUnknownError;
  if (code != kSuccess) {
    device_errors_.push_back(what + ": " + Explain(code));
    sink.Add(Gap{"readings of " + what, Explain(code), Advice(code)});
    return;
  }
  AddDeviceFacts(library_, device, context_.brief, sink);
  devices_.push_back(std::make_unique<DeviceSampler>(library_, std::move(device), sink));
}

void NvmlWitness::Poll(double time_s, EvidenceSink& sink) {
  if (!running_) return;
  for (const auto& device : devices_) {
    if (!device->lost()) device->PollFast(time_s, sink);
  }
  if (time_s - last_slow_s_ < kSlowSeconds - kSlack) return;
  last_slow_s_ = time_s;
  if (!asleep_.empty()) AttachWoken(sink);
  // Who looks once has no use for one reading of a counter or of GPM, and they take a third of the time.
  const bool gpm = context_.job_pid != 0 || slow_polls_ > 0;
  const bool counters = !context_.brief || slow_polls_ > 0;
  for (const auto& device : devices_) {
    if (!device->lost()) device->PollSlow(time_s, job_, {counters, gpm}, sink);
  }
  if (!namespace_known_) CheckNamespace(time_s, sink);
  ++slow_polls_;
}

// Old drivers list PIDs of the host to a container, newer ones hide the processes of other namespaces. Only two things
// prove which: a process of the job in the list, or a listed PID that is twice no process here although /proc is whole.
void NvmlWitness::CheckNamespace(double time_s, EvidenceSink& sink) {
  bool own = false, foreign = false;
  std::set<int64_t> strangers;
  for (const auto& device : devices_) {
    for (const int64_t pid : device->listed()) {
      own = own || job_.count(pid) != 0;
      if (FileExists("/proc/" + std::to_string(pid))) continue;
      foreign = foreign || strangers_.count(pid) != 0;
      strangers.insert(pid);
    }
  }
  strangers_ = std::move(strangers);
  foreign = foreign && FileExists("/proc/1/stat");
  Value value = Value::Missing(State::kUnknown, "no listed process tells in whose numbering the driver's PIDs are");
  if (own || foreign) value = Value::Of(own);
  if (own || foreign || slow_polls_ == 0) {
    sink.AddFact("driver.process_list.own_namespace", Entity::Host(), std::move(value), Source::kDriver, "", time_s);
  }
  namespace_known_ = own || foreign;
}

void NvmlWitness::Stop(double time_s, EvidenceSink& sink) {
  if (!running_) return;
  for (const auto& device : devices_) {
    if (!device->lost() && slow_polls_ > 0 && context_.job_pid != 0) device->PollSlow(time_s, job_, {true, true}, sink);
    device->Finish(time_s, sink);
  }
  devices_.clear();
  // The driver takes 3 to 9 ms for it and clears up as well when the process ends, which is at once.
  if (!context_.brief) Call(library_.api().shutdown);
  running_ = false;
}

std::unique_ptr<Witness> Create() { return std::make_unique<NvmlWitness>(); }

}  // namespace
}  // namespace nvml

extern const WitnessInfo kWitness_nvml;
const WitnessInfo kWitness_nvml = {"nvml", nvml::kPeriodSeconds, false, &nvml::Create};

}  // namespace gpuwhy
