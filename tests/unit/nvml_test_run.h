// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_UNIT_NVML_TEST_RUN_H_
#define GPUWHY_TESTS_UNIT_NVML_TEST_RUN_H_

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/evidence.h"
#include "witness/witness.h"

#ifndef GPUWHY_FAKES_DIR
#error "GPUWHY_FAKES_DIR: folder of the fake libraries"
#endif
#ifndef GPUWHY_SOURCE_DIR
#error "GPUWHY_SOURCE_DIR: folder of the repository"
#endif

namespace gpuwhy {

extern const WitnessInfo kWitness_nvml;

// The nvml witness on a fake library, through the path that the program takes: dlopen, dlsym, calls.
class NvmlRun {
 public:
  // `scenario` is a file of tests/fakes/nvml, `build` a suffix of the fake library ("", "-old", "-535").
  explicit NvmlRun(const std::string& scenario, int64_t job_pid = 0, const std::string& build = "") {
    library_ = std::string(GPUWHY_FAKES_DIR) + "/libnvidia-ml-fake" + build + ".so";
    setenv("GPUWHY_FAKE_NVML", (std::string(GPUWHY_SOURCE_DIR) + "/tests/fakes/nvml/" + scenario + ".txt").c_str(), 1);
    root_ = std::filesystem::path(testing::TempDir()) / ("gpuwhy-nvml-" + std::to_string(getpid()) + "-" + scenario);
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    context_.nvml_library = library_;
    context_.root = HostRoot(root_.string());
    context_.job_pid = job_pid;
    context_.session_start_ns = MonotonicNs();
  }
  ~NvmlRun() {
    witness_.reset();
    std::filesystem::remove_all(root_);
  }
  NvmlRun(const NvmlRun&) = delete;
  NvmlRun& operator=(const NvmlRun&) = delete;

  WitnessContext& context() { return context_; }

  // Adds an NVIDIA GPU to the faked PCI bus.
  void PutOnBus(const std::string& address, const std::string& runtime_status) const {
    const std::filesystem::path folder = root_ / "sys/bus/pci/devices" / address;
    std::filesystem::create_directories(folder / "power");
    std::ofstream(folder / "vendor") << "0x10de\n";
    std::ofstream(folder / "class") << "0x030200\n";
    std::ofstream(folder / "power/runtime_status") << runtime_status << "\n";
  }

  void Start() {
    witness_ = kWitness_nvml.create();
    witness_->Start(context_, evidence);
  }
  void Poll(double time_s) { witness_->Poll(time_s, evidence); }
  // Starts and polls at the witness' own period for that long; nothing sleeps.
  void Watch(double seconds) {
    Start();
    for (double time_s = 0.2; time_s <= seconds + 1e-9; time_s += kWitness_nvml.period_s) Poll(time_s);
  }
  void Stop(double time_s) { witness_->Stop(time_s, evidence); }
  Witness& witness() { return *witness_; }

  // Calls into the fake library since it was loaded.
  unsigned long Calls() const {
    void* handle = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
    using Counter = unsigned long();
    return reinterpret_cast<Counter*>(dlsym(handle, "gpuwhyFakeNvmlCalls"))();
  }

  Value Get(const std::string& name, const Entity& entity) const {
    const Fact* fact = evidence.Find(name, entity);
    return fact != nullptr ? fact->value : Value::Missing(State::kUnknown, "nobody said anything");
  }
  Value Get(const std::string& name) const { return Get(name, Entity::Host()); }
  std::vector<double> Values(const std::string& metric, const Entity& entity) const {
    std::vector<double> out;
    for (const Point& point : evidence.Samples(metric, entity)) out.push_back(point.value);
    return out;
  }

  Evidence evidence;

 private:
  std::string library_;
  std::filesystem::path root_;
  WitnessContext context_;
  std::unique_ptr<Witness> witness_;
};

inline const Entity kH200 = Entity::Gpu("GPU-00000000-0000-0000-0000-000000000000");

}  // namespace gpuwhy

#endif  // GPUWHY_TESTS_UNIT_NVML_TEST_RUN_H_
