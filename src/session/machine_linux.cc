// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <pwd.h>
#include <sys/stat.h>

#include <map>

#include "base/clock.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "session/embedded.h"
#include "session/machine.h"
#include "session/watch.h"
#include "witness/os/interpreter_linux.h"
#include "witness/os/toolkit_linux.h"

namespace gpuwhy {
namespace {

WitnessContext MachineContext() {
  WitnessContext context;
  context.root = HostRoot::FromEnvironment();
  context.nvml_library = Environment("GPUWHY_NVML").value_or("");
  context.session_start_ns = MonotonicNs();
  context.trace = "off";
  return context;
}

// Names of users, asked once each: a directory service behind getpwuid may take its time.
class UserNames {
 public:
  std::string Of(uid_t id) {
    const auto known = names_.find(id);
    if (known != names_.end()) return known->second;
    passwd entry{};
    passwd* found = nullptr;
    char buffer[4096];
    const bool named = getpwuid_r(id, &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr;
    return names_[id] = named ? std::string(entry.pw_name) : Format("uid {}", id);
  }

 private:
  std::map<uid_t, std::string> names_;
};

// Old drivers list the PIDs of the host inside a container. There a number belongs to a process of ours only when that
// process holds an NVIDIA device open.
bool HoldsDevice(const std::string& folder) {
  const Result<std::vector<std::string>> descriptors = ListFolder(folder + "/fd");
  for (const std::string& number : descriptors ? *descriptors : std::vector<std::string>()) {
    const Result<std::string> target = ReadLink(folder + "/fd/" + number);
    if (target && target->rfind("/dev/nvidia", 0) == 0) return true;
  }
  return false;
}

void NameProcess(const Entity& entity, bool may_be_foreign, UserNames& users, EvidenceSink& sink) {
  const std::string folder = Format("/proc/{}", entity.pid());
  const auto say = [&](const char* name, Value value) { sink.AddFact(name, entity, std::move(value), Source::kOs); };
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) {
    const Value gone =
        Value::Missing(State::kNotFound,
                       "no process of this number here: it has ended, or the driver counts in another PID namespace");
    say("process.user", gone);
    say("process.name", gone);
    return;
  }
  if (may_be_foreign && !HoldsDevice(folder)) {
    const Value foreign = Value::Missing(State::kUnknown, "the driver may count in another PID namespace");
    say("process.user", foreign);
    say("process.name", foreign);
    return;
  }
  say("process.user", Value::Of(users.Of(info.st_uid)));
  const Result<std::string> name = ReadFile(folder + "/comm", 256);
  say("process.name",
      name ? Value::Of(std::string(Trim(*name))) : Value::Missing(State::kNotFound, name.error().message));
}

void NameProcesses(Evidence& evidence) {
  const bool may_be_foreign = evidence.Bool("host.pid_namespace") != false;
  UserNames users;
  for (const Entity& entity : evidence.Entities(EntityKind::kProcessOnGpu))
    NameProcess(entity, may_be_foreign, users, evidence);
}

void Look(const char* kind, Evidence& evidence) {
  evidence.AddFact(kKindFact, Entity::Host(), Value::Of(std::string(kind)), Source::kOs);
  WitnessContext context = MachineContext();
  context.brief = std::string_view(kind) == kKindSnapshot;
  Watch watch(context, evidence);
  watch.Tick();
  watch.Stop();
  NameProcesses(evidence);
}

// Variables that decide what a job started from this shell sees.
void AddEnvironment(EvidenceSink& sink) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) {
    const std::optional<std::string> value = Environment(name);
    if (value) sink.AddFact(std::string("host.env.") + name, Entity::Host(), Value::Of(*value), Source::kOs);
  }
}

}  // namespace

Evidence LookAtGpus() {
  Evidence evidence;
  Look(kKindSnapshot, evidence);
  return evidence;
}

Evidence LookAtMachine(const std::vector<std::string>& pythons) {
  Evidence evidence;
  Look(kKindDoctor, evidence);
  AddEnvironment(evidence);
  const HostRoot root = HostRoot::FromEnvironment();
  const os::UserEnvironment user = os::UserEnvironment::OfThisProcess();
  os::AddToolkitFacts(root, user, evidence);
  for (const EmbeddedFile& file : EmbeddedInterpreterProbe()) {
    if (file.path == "interpreter_probe.py") os::AddAllInterpreters(root, user, pythons, file.data, evidence);
  }
  return evidence;
}

}  // namespace gpuwhy
