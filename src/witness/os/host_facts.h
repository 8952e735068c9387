// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_HOST_FACTS_H_
#define GPUWHY_WITNESS_OS_HOST_FACTS_H_

#include <string>
#include <utility>

#include "base/host_root.h"
#include "base/result.h"
#include "model/evidence.h"

namespace gpuwhy::os {

// The state that fits an error: a missing file and a forbidden one are different news.
Value ValueOf(const Error& error);

// Writes facts about the machine, all of them with the source `os`.
class HostFacts {
 public:
  explicit HostFacts(EvidenceSink& sink) : sink_(sink) {}
  void Add(std::string name, Value value, std::string where = "") {
    sink_.AddFact(std::move(name), Entity::Host(), std::move(value), Source::kOs, std::move(where));
  }
  void Add(std::string name, Scalar value, std::string where = "") {
    Add(std::move(name), Value::Of(std::move(value)), std::move(where));
  }
  void Add(std::string name, const Error& error) { Add(std::move(name), ValueOf(error)); }

 private:
  EvidenceSink& sink_;
};

// Operating system, CPUs, memory, cgroup limits, container, WSL, PID namespace, rights of this user: facts host.os.*,
// host.cpu.*, host.memory.*, host.cgroup.*, host.container, host.wsl and so on (docs/witnesses/os.md lists them).
void AddMachineFacts(const HostRoot& root, EvidenceSink& sink);

// GPUs on the PCI bus, kernel module, driver version and libraries, device nodes: host.gpu.*, host.driver.*.
void AddDriverFacts(const HostRoot& root, EvidenceSink& sink);

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_HOST_FACTS_H_
