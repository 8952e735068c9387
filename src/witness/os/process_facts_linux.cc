// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/process_facts_linux.h"

#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "witness/os/host_facts.h"

namespace gpuwhy::os {
namespace {

constexpr size_t kMaxCommand = 200;
constexpr size_t kMaxValue = 4096;
// A process that has all we look for can still map more (a second framework): look again, but rarely.
constexpr double kSettledStepS = 60;
constexpr double kLongestStepS = 15;

constexpr std::string_view kVariables[] = {"CUDA_VISIBLE_DEVICES",
                                           "NVIDIA_VISIBLE_DEVICES",
                                           "NVIDIA_DRIVER_CAPABILITIES",
                                           "CUDA_DEVICE_ORDER",
                                           "CUDA_LAUNCH_BLOCKING",
                                           "CUDA_HOME",
                                           "CUDA_PATH",
                                           "CUDA_ROOT",
                                           "CUDA_MODULE_LOADING",
                                           "CUDA_CACHE_DISABLE",
                                           "CUDA_CACHE_PATH",
                                           "CUDA_CACHE_MAXSIZE",
                                           "CUDA_FORCE_PTX_JIT",
                                           "CUDA_DISABLE_PTX_JIT",
                                           "CUDA_DEVICE_MAX_CONNECTIONS",
                                           "CUDA_MPS_PIPE_DIRECTORY",
                                           "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                                           "CUDA_INJECTION64_PATH",
                                           "NVTX_INJECTION64_PATH",
                                           "KINETO_USE_DAEMON",
                                           "LD_LIBRARY_PATH",
                                           "LD_PRELOAD",
                                           "PYTORCH_CUDA_ALLOC_CONF",
                                           "PYTORCH_ALLOC_CONF",
                                           "PYTORCH_NO_CUDA_MEMORY_CACHING",
                                           "PYTORCH_NVML_BASED_CUDA_CHECK",
                                           "TORCH_CUDA_ARCH_LIST",
                                           "TORCH_COMPILE_DISABLE",
                                           "TORCHDYNAMO_DISABLE",
                                           "TORCH_SHOW_CPP_STACKTRACES",
                                           "TORCH_USE_CUDA_DSA",
                                           "TF_FORCE_GPU_ALLOW_GROWTH",
                                           "TF_GPU_ALLOCATOR",
                                           "TF_GPU_THREAD_MODE",
                                           "TF_MIN_GPU_MULTIPROCESSOR_COUNT",
                                           "TF_ENABLE_ONEDNN_OPTS",
                                           "TF_XLA_FLAGS",
                                           "TF_CPP_MIN_LOG_LEVEL",
                                           "XLA_FLAGS",
                                           "JAX_PLATFORMS",
                                           "JAX_PLATFORM_NAME",
                                           "JAX_DISABLE_JIT",
                                           "JAX_DEBUG_NANS",
                                           "JAX_ENABLE_X64",
                                           "KERAS_BACKEND",
                                           "OMP_NUM_THREADS",
                                           "MKL_NUM_THREADS",
                                           "OPENBLAS_NUM_THREADS",
                                           "NVIDIA_TF32_OVERRIDE",
                                           "NCCL_DEBUG",
                                           "NCCL_P2P_DISABLE",
                                           "NCCL_IB_DISABLE",
                                           "NCCL_SHM_DISABLE",
                                           "WORLD_SIZE",
                                           "RANK",
                                           "LOCAL_RANK",
                                           "SLURM_JOB_ID",
                                           "SLURM_JOB_GPUS",
                                           "CONDA_PREFIX",
                                           "VIRTUAL_ENV",
                                           "HIP_VISIBLE_DEVICES"};

std::string ProcPath(int64_t pid, std::string_view rest) { return "/proc/" + std::to_string(pid) + std::string(rest); }

// At most `limit` bytes, never half a UTF-8 character.
std::string Shorten(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string StateWord(char state) {
  if (state == 'Z' || state == 'X') return "zombie";
  if (state == 'T' || state == 't') return "stopped";
  return state == '?' ? "hidden" : "alive";
}

double Seconds(uint64_t ticks) {
  static const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return static_cast<double>(ticks) / per_second;
}

bool Same(const Value& a, const Value& b) { return a.state == b.state && a.scalar == b.scalar && a.why == b.why; }

}  // namespace

bool IsRelevantVariable(std::string_view name) {
  if (name.substr(0, 18) == "XLA_PYTHON_CLIENT_") return true;
  return std::find(std::begin(kVariables), std::end(kVariables), name) != std::end(kVariables);
}

void ProcessFacts::Push(std::string name, Value value, double time_s, EvidenceSink& sink) {
  const auto known = last_.find(name);
  if (known != last_.end() && Same(known->second, value)) return;
  last_[name] = value;
  sink.AddFact(std::move(name), Entity::Process(pid_), std::move(value), Source::kOs, "", time_s);
}

void ProcessFacts::Sample(const char* metric, double value, double time_s, EvidenceSink& sink) {
  sink.Add(gpuwhy::Sample{metric, Entity::Process(pid_), time_s, value});
}

void ProcessFacts::ReadLight(const TreeProcess& process, bool block_io_accounted, double time_s, EvidenceSink& sink) {
  Push("process.state", StateWord(process.stat.state), time_s, sink);
  if (!process.hidden.empty()) {
    const Value hidden = Value::Missing(State::kNoPermission, process.hidden);
    for (const char* name : {"process.name", "process.command", "process.libcuda", "process.gpu_device_open"})
      Push(name, hidden, time_s, sink);
    return;
  }
  const ProcStat& stat = process.stat;
  Push("process.parent", stat.parent, time_s, sink);
  Sample("process.cpu.seconds", Seconds(stat.own_ticks()), time_s, sink);
  if (stat.state == 'Z' || stat.state == 'X') return;  // no memory, no threads, no files any more
  // exec changes where arguments stand; a kernel that does not tell (another user's process) still shows the name.
  if (!program_known_ || stat.program != program_ || stat.name != name_) ReadProgram(stat, time_s, sink);
  const Result<ProcStat> main_thread = stat.threads > 1 ? ReadThreadStat(pid_, pid_) : Result<ProcStat>(stat);
  if (main_thread) Sample("process.cpu.main_thread.seconds", Seconds(main_thread->own_ticks()), time_s, sink);
  // One look a poll: its mean is the share of time in which the process could not even be interrupted.
  Sample("process.uninterruptible.ratio", stat.state == 'D' ? 1 : 0, time_s, sink);
  if (const std::optional<double> delay = RunDelay(pid_)) Sample("process.run_delay.seconds", *delay, time_s, sink);
  if (block_io_accounted && main_thread)
    Sample("process.io_wait.seconds", Seconds(main_thread->block_io_delay), time_s, sink);
  Sample("process.threads.count", static_cast<double>(stat.threads), time_s, sink);
  static const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
  Sample("process.memory.rss.bytes", static_cast<double>(stat.rss) * page, time_s, sink);
  const Result<uint64_t> bytes = ReadBytes(pid_);
  if (bytes) Sample("process.read.bytes", static_cast<double>(*bytes), time_s, sink);
  if (!bytes) Push("process.read.bytes", ValueOf(bytes.error()), time_s, sink);
}

void ProcessFacts::ReadProgram(const ProcStat& stat, double time_s, EvidenceSink& sink) {
  if (program_known_) {  // exec: other libraries come, look closely again
    next_heavy_s_ = 0;
    heavy_step_s_ = 1;
    libcuda_ = framework_ = device_open_ = false;
  }
  program_known_ = true;
  program_ = stat.program;
  name_ = stat.name;
  Push("process.name", stat.name, time_s, sink);
  const Result<std::string> command = ReadFile(ProcPath(pid_, "/cmdline"), 1 << 16);
  if (command) {
    Push("process.command", Shorten(Join(SplitZero(*command), " "), kMaxCommand), time_s, sink);
  } else {
    Push("process.command", ValueOf(command.error()), time_s, sink);
  }
  const Result<std::string> executable = ReadLink(ProcPath(pid_, "/exe"));
  Push("process.executable", executable ? Value::Of(*executable) : ValueOf(executable.error()), time_s, sink);
  ReadEnvironment(time_s, sink);
}

void ProcessFacts::ReadEnvironment(double time_s, EvidenceSink& sink) {
  const Result<std::string> text = ReadFile(ProcPath(pid_, "/environ"), 1 << 22);
  if (!text) return Push("process.env", ValueOf(text.error()), time_s, sink);
  StringList names;
  for (const std::string& variable : SplitZero(*text)) {
    const size_t equal = variable.find('=');
    if (equal == std::string::npos || !IsRelevantVariable(std::string_view(variable).substr(0, equal))) continue;
    names.push_back(variable.substr(0, equal));
    Push("process.env." + names.back(), Shorten(variable.substr(equal + 1), kMaxValue), time_s, sink);
  }
  // exec may have dropped a variable: its old fact must not stay.
  std::vector<std::string> gone;
  for (const auto& [name, value] : last_) {
    if (name.compare(0, 12, "process.env.") != 0 || !value.known()) continue;
    if (std::find(names.begin(), names.end(), name.substr(12)) == names.end()) gone.push_back(name);
  }
  for (const std::string& name : gone) Push(name, Value::Missing(State::kNotFound, "no longer set"), time_s, sink);
  std::sort(names.begin(), names.end());
  Push("process.env", names, time_s, sink);
}

void ProcessFacts::ReadMaps(double time_s, EvidenceSink& sink) {
  const Result<std::string> maps = ReadFile(ProcPath(pid_, "/maps"), size_t{1} << 26);
  if (!maps) {
    if (maps.error().code == ErrorCode::kNotFound) return;  // it ended: what was seen stays
    for (const char* name : {"process.libraries", "process.libcuda", "process.framework_hint"})
      Push(name, ValueOf(maps.error()), time_s, sink);
    return;
  }
  if (maps->empty()) return;  // a zombie
  const MappedLibraries libraries = ParseMaps(*maps);
  libcuda_ = libcuda_ || !libraries.libcuda.empty();
  const std::string hint = FrameworkHint(libraries);
  framework_ = framework_ || !hint.empty();
  Push("process.libraries", libraries.names, time_s, sink);
  Push("process.libcuda", libcuda_, time_s, sink);
  if (!libraries.libcuda.empty()) Push("process.libcuda.path", libraries.libcuda, time_s, sink);
  Push("process.framework_hint", hint, time_s, sink);
}

void ProcessFacts::ReadDevices(double time_s, EvidenceSink& sink) {
  const Result<std::vector<std::string>> devices = OpenDevices(root_, pid_);
  if (!devices) {
    if (devices.error().code == ErrorCode::kNotFound) return;
    for (const char* name : {"process.devices", "process.gpu_device_open"})
      Push(name, ValueOf(devices.error()), time_s, sink);
    return;
  }
  device_open_ = device_open_ || std::any_of(devices->begin(), devices->end(),
                                             [](const std::string& device) { return IsGpuDevice(device); });
  Push("process.devices", *devices, time_s, sink);
  Push("process.gpu_device_open", device_open_, time_s, sink);
}

void ProcessFacts::ReadHeavy(double time_s, EvidenceSink& sink) {
  ReadMaps(time_s, sink);
  ReadDevices(time_s, sink);
  const bool settled = libcuda_ && framework_ && device_open_;
  next_heavy_s_ = time_s + (settled ? kSettledStepS : heavy_step_s_) * 0.99;  // polls come a little early or late
  heavy_step_s_ = std::min(heavy_step_s_ * 1.5, kLongestStepS);
}

void ProcessFacts::Ended(double time_s, EvidenceSink& sink) {
  Push("process.state", std::string("ended"), time_s, sink);
}

}  // namespace gpuwhy::os
