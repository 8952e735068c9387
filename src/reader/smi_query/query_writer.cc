// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/smi_query/query_writer.h"

#include <algorithm>

#include "base/text.h"
#include "reader/words.h"

namespace gpuwhy::smi_query {
namespace {

constexpr std::string_view kAny = "*";
constexpr size_t kMostGpus = 1024;

enum class Kind { kText, kSwitch, kMode, kPState, kNumber, kWhole, kReading };

// The number in front of a unit: "345 MHz", "16x", "143771 MiB", "P8" without its letter.
std::optional<double> Number(std::string_view value) {
  const size_t size = std::min(value.find_first_not_of("0123456789.-"), value.size());
  return ParseDouble(value.substr(0, size));
}

bool Same(std::string_view a, std::string_view b) { return a.size() == b.size() && Lower(a) == Lower(b); }

// nvidia-smi's name of a compute mode in the words of the live witness.
std::string ComputeMode(std::string_view text) {
  std::string lower = Lower(text);
  std::replace(lower.begin(), lower.end(), '_', '-');
  return lower;
}

bool Broken(std::string_view value) {
  return Contains(value, "lost") || Contains(value, "Unknown Error") || Contains(value, "equires reset") ||
         value == "ERR!";
}

}  // namespace

struct QueryWriter::Field {
  std::string_view section, label;  // of -q; kAny: the label is telling enough
  std::string_view parent, tag;     // of -q -x
  const char* name;
  Kind kind;
  double factor = 1;
};

// Names of drivers 340 to 610.
const QueryWriter::Field QueryWriter::kFields[] = {
    {"", "Product Name", "gpu", "product_name", "gpu.name", Kind::kText},
    {kAny, "GPU UUID", "gpu", "uuid", "gpu.uuid", Kind::kText},
    {kAny, "Bus Id", "pci", "pci_bus_id", "gpu.bus_id", Kind::kText},
    {kAny, "Persistence Mode", "gpu", "persistence_mode", "gpu.persistence_mode", Kind::kSwitch},
    {kAny, "Display Active", "gpu", "display_active", "gpu.display_active", Kind::kSwitch},
    {"MIG Mode", "Current", "mig_mode", "current_mig", "gpu.mig.mode", Kind::kSwitch},
    {"Driver Model", "Current", "driver_model", "current_dm", "gpu.driver_model", Kind::kText},
    {"GPU Virtualization Mode", "Virtualization Mode", "gpu_virtualization_mode", "virtualization_mode",
     "gpu.virtualization_mode", Kind::kText},
    {kAny, "License Status", kAny, "license_status", "gpu.vgpu.license", Kind::kText},
    {"PCIe Generation", "Max", "pcie_gen", "max_link_gen", "gpu.pcie.generation.max", Kind::kWhole},
    {"PCIe Generation", "Current", "pcie_gen", "current_link_gen", "gpu.pcie.generation.current", Kind::kWhole},
    {"Link Width", "Max", "link_widths", "max_link_width", "gpu.pcie.width.max", Kind::kWhole},
    {"Link Width", "Current", "link_widths", "current_link_width", "gpu.pcie.width.current", Kind::kWhole},
    {kAny, "Performance State", "gpu", "performance_state", "gpu.pstate", Kind::kPState},
    {"FB Memory Usage", "Total", "fb_memory_usage", "total", "gpu.memory.total.bytes", Kind::kWhole, kBytesPerMebibyte},
    {"FB Memory Usage", "Reserved", "fb_memory_usage", "reserved", "gpu.memory.reserved.bytes", Kind::kWhole,
     kBytesPerMebibyte},
    {"FB Memory Usage", "Used", "fb_memory_usage", "used", "gpu.memory.used.bytes", Kind::kReading, kBytesPerMebibyte},
    {kAny, "Compute Mode", "gpu", "compute_mode", "gpu.compute_mode", Kind::kMode},
    {"Utilization", "Gpu", "utilization", "gpu_util", "gpu.utilization.ratio", Kind::kReading, 0.01},
    {"Utilization", "Memory", "utilization", "memory_util", "gpu.memory_utilization.ratio", Kind::kReading, 0.01},
    {"ECC Mode", "Current", "ecc_mode", "current_ecc", "gpu.ecc.mode", Kind::kSwitch},
    {kAny, "GPU Current Temp", "temperature", "gpu_temp", "gpu.temperature.celsius", Kind::kReading},
    {"Temperature", "Gpu", "", "", "gpu.temperature.celsius", Kind::kReading},
    {kAny, "GPU Slowdown Temp", "temperature", "gpu_temp_slow_threshold", "gpu.temperature.slowdown.celsius",
     Kind::kNumber},
    {"Power Readings", "Power Draw", "power_readings", "power_draw", "gpu.power.watts", Kind::kReading},
    {"GPU Power Readings", "Power Draw", "gpu_power_readings", "power_draw", "gpu.power.watts", Kind::kReading},
    {"GPU Power Readings", "Average Power Draw", "gpu_power_readings", "average_power_draw", "gpu.power.watts",
     Kind::kReading},
    {"Power Readings", "Power Limit", "power_readings", "power_limit", "gpu.power.limit.watts", Kind::kNumber},
    {"GPU Power Readings", "Current Power Limit", "gpu_power_readings", "current_power_limit", "gpu.power.limit.watts",
     Kind::kNumber},
    {"Power Readings", "Default Power Limit", "power_readings", "default_power_limit", "gpu.power.default_limit.watts",
     Kind::kNumber},
    {"GPU Power Readings", "Default Power Limit", "gpu_power_readings", "default_power_limit",
     "gpu.power.default_limit.watts", Kind::kNumber},
    {"Power Readings", "Max Power Limit", "power_readings", "max_power_limit", "gpu.power.max_limit.watts",
     Kind::kNumber},
    {"GPU Power Readings", "Max Power Limit", "gpu_power_readings", "max_power_limit", "gpu.power.max_limit.watts",
     Kind::kNumber},
    {"Clocks", "SM", "clocks", "sm_clock", "gpu.clock.sm.hertz", Kind::kReading, 1e6},
    {"Clocks", "Memory", "clocks", "mem_clock", "gpu.clock.memory.hertz", Kind::kReading, 1e6},
    {"Max Clocks", "SM", "max_clocks", "sm_clock", "gpu.clock.sm.max.hertz", Kind::kNumber, 1e6},
};

void QueryWriter::Driver(std::string_view label, std::string_view version, size_t line) {
  if (version.empty() || version[0] < '0' || version[0] > '9') return;  // "Not Found", "N/A"
  AddQuoted(sink_, label[0] == 'D' ? "driver.version" : "driver.cuda_version", Entity::Host(),
            Value::Of(std::string(version)), Source::kDriver, text_.lines()[line]);
}

void QueryWriter::BeginGpu(std::string_view bus_id, size_t line) {
  const auto place = std::find(gpus_.begin(), gpus_.end(), bus_id);
  gpu_ = place - gpus_.begin();
  if (place == gpus_.end()) {
    if (gpus_.size() == kMostGpus) return void(gpu_ = -1);
    gpus_.emplace_back(bus_id);
  }
  ecc_errors_.reset();
  mig_line_.reset();
  instances_.clear();
  readings_.Next(gpu_);
  readings_.Put(gpu_, "gpu.index", Value::Of(static_cast<int64_t>(gpu_)), line);
  if (!bus_id.empty()) readings_.Put(gpu_, "gpu.bus_id", Value::Of(std::string(bus_id)), line);
}

bool QueryWriter::TextField(std::string_view section, std::string_view label, std::string_view value, size_t line) {
  for (const Field& field : kFields) {
    if (!Same(field.label, label) || (field.section != kAny && !Same(field.section, section))) continue;
    Put(field, value, line);
    return true;
  }
  return false;
}

bool QueryWriter::XmlField(std::string_view parent, std::string_view tag, std::string_view value, size_t line) {
  for (const Field& field : kFields) {
    if (field.tag != tag || (field.parent != kAny && field.parent != parent)) continue;
    Put(field, value, line);
    return true;
  }
  return false;
}

void QueryWriter::Put(const Field& field, std::string_view value, size_t line) {
  if (Broken(value)) readings_.Put(gpu_, "gpu.error", Value::Of(std::string(value)), line);
  Value out = Value::Missing(State::kUnsupported, std::string(value));
  const bool none = value.empty() || value == "N/A" || Broken(value) || StartsWith(value, "Requested functionality");
  if (field.kind == Kind::kNumber || field.kind == Kind::kWhole || field.kind == Kind::kReading ||
      field.kind == Kind::kPState)
    return PutNumber(field, value, line);
  if (field.kind == Kind::kText && !none) out = Value::Of(std::string(value));
  if (field.kind == Kind::kMode && !none) out = Value::Of(ComputeMode(value));
  if (field.kind == Kind::kSwitch && (value == "Enabled" || value == "Disabled")) out = Value::Of(value == "Enabled");
  const std::string_view name = field.name;
  if (name == "gpu.mig.mode" && value == "Enabled") mig_line_ = line;
  if (name == "gpu.driver_model" && out.known())
    AddQuoted(sink_, "host.os.name", Entity::Host(), Value::Of(std::string("windows")), Source::kOs,
              text_.lines()[line]);
  readings_.Put(gpu_, field.name, std::move(out), line);
}

void QueryWriter::PutNumber(const Field& field, std::string_view value, size_t line) {
  std::optional<double> number = Number(field.kind == Kind::kPState && !value.empty() ? value.substr(1) : value);
  if (number) number = *number * field.factor;
  if (field.kind == Kind::kReading || field.kind == Kind::kPState)
    return readings_.Read(gpu_, field.name, number, value, line);
  Value out = Value::Missing(State::kUnsupported, std::string(value));
  if (number) out = field.kind == Kind::kWhole ? Value::Of(static_cast<int64_t>(*number)) : Value::Of(*number);
  readings_.Put(gpu_, field.name, std::move(out), line);
}

void QueryWriter::Reason(std::string_view name, std::string_view value, size_t line) {
  if (value != "Active" && value != "Not Active") return;
  if (name == "idle") name = "gpu_idle";
  if (name == "hw_power_brake_slowdown") name = "hw_power_brake";
  for (const std::string_view known : {"sw_power_cap", "sw_thermal_slowdown", "hw_slowdown", "hw_thermal_slowdown",
                                       "hw_power_brake", "gpu_idle", "applications_clocks_setting", "sync_boost"}) {
    const std::string fact = "gpu.throttle_reason." + std::string(known);
    if (name == known) readings_.Put(gpu_, fact.c_str(), Value::Of(value == "Active"), line);
  }
}

void QueryWriter::EccErrors(std::string_view value, size_t line) {
  const std::optional<long long> errors = ParseInt(value);
  if (!errors) return;
  ecc_errors_ = ecc_errors_.value_or(0) + *errors;
  readings_.Put(gpu_, "gpu.ecc.uncorrected", Value::Of(static_cast<int64_t>(*ecc_errors_)), line);
}

void QueryWriter::MigInstance(std::string_view gpu_instance, std::string_view compute_instance, size_t line) {
  instances_.push_back("GI " + std::string(gpu_instance) + " CI " + std::string(compute_instance));
  readings_.Put(gpu_, "gpu.mig.instances", Value::Of(instances_), line);
}

void QueryWriter::MigInstancesEnd() {
  if (mig_line_ && instances_.empty()) readings_.Put(gpu_, "gpu.mig.instances", Value::Of(StringList{}), *mig_line_);
  mig_line_.reset();
}

void QueryWriter::AddProcess(const Process& process, size_t line) {
  const Entity entity = Entity::ProcessOnGpu(process.pid, TextGpu(gpu_).id);
  const TextLine& quoted = text_.lines()[line];
  const auto add = [&](const char* name, Value value) {
    AddQuoted(sink_, name, entity, std::move(value), Source::kDriver, quoted);
  };
  listed_ = line;
  add("process.gpu.listed", Value::Of(true));
  if (!process.type.empty()) add("process.gpu.type", Value::Of(process.type));
  if (!process.name.empty()) add("process.name", Value::Of(process.name));
  if (ParseInt(process.gpu_instance))
    add("process.gpu.instance", Value::Of(process.gpu_instance + "/" + process.compute_instance));
  if (process.memory.empty()) return;
  std::optional<double> bytes = Number(process.memory);
  if (bytes) bytes = *bytes * kBytesPerMebibyte;
  readings_.Read(entity, "process.gpu.memory.bytes", bytes, process.memory, line, Source::kDriver);
}

void QueryWriter::NoProcesses(size_t line) { empty_ = line; }

void QueryWriter::End() {
  const std::optional<size_t> line = listed_ ? listed_ : empty_;
  if (!line) return;
  AddQuoted(sink_, "driver.processes.box", Entity::Host(), Value::Of(std::string(listed_ ? "listed" : "empty")),
            Source::kDriver, text_.lines()[*line]);
}

}  // namespace gpuwhy::smi_query
