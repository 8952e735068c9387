// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/columns.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.h"
#include "reader/nvidia_smi/cells.h"
#include "reader/nvidia_smi/gpu_row.h"
#include "reader/words.h"

namespace gpuwhy::nvidia_smi {
namespace {

constexpr double kHertz = 1e6;
constexpr double kMostOfAnything = 1e15;  // bytes, hertz, errors: beyond it a figure is damage
constexpr long long kMostPStates = 15;
constexpr size_t kMaskLength = 18;    // "0x0000000000000004"
constexpr size_t kMostColumns = 200;  // --help-query-gpu of driver 610 names fewer

// A column of --query-gpu: name of nvidia-smi, our metric or fact, how its value reads, its unit.
enum class Kind { kText, kWhole, kNumber, kReading, kPState, kMode, kSwitch };
struct Column {
  std::string_view query;
  const char* name;
  Kind kind;
  std::string_view unit = "";
  double factor = 1;
};

// Names of `nvidia-smi --help-query-gpu`, drivers 352 to 610.
constexpr Column kColumns[] = {
    {"name", "gpu.name", Kind::kText},
    {"gpu_name", "gpu.name", Kind::kText},
    {"uuid", "gpu.uuid", Kind::kText},
    {"gpu_uuid", "gpu.uuid", Kind::kText},
    {"pci.bus_id", "gpu.bus_id", Kind::kText},
    {"gpu_bus_id", "gpu.bus_id", Kind::kText},
    {"compute_cap", "gpu.compute_capability", Kind::kText},
    {"driver_model.current", "gpu.driver_model", Kind::kText},
    {"pstate", "gpu.pstate", Kind::kPState},
    {"compute_mode", "gpu.compute_mode", Kind::kMode},
    {"mig.mode.current", "gpu.mig.mode", Kind::kSwitch},
    {"persistence_mode", "gpu.persistence_mode", Kind::kSwitch},
    {"display_active", "gpu.display_active", Kind::kSwitch},
    {"utilization.gpu", "gpu.utilization.ratio", Kind::kReading, "%", 0.01},
    {"utilization.memory", "gpu.memory_utilization.ratio", Kind::kReading, "%", 0.01},
    {"memory.used", "gpu.memory.used.bytes", Kind::kReading, "MiB", kBytesPerMebibyte},
    {"memory.total", "gpu.memory.total.bytes", Kind::kWhole, "MiB", kBytesPerMebibyte},
    {"memory.reserved", "gpu.memory.reserved.bytes", Kind::kWhole, "MiB", kBytesPerMebibyte},
    {"power.draw", "gpu.power.watts", Kind::kReading, "W"},
    {"power.draw.instant", "gpu.power.watts", Kind::kReading, "W"},
    {"power.limit", "gpu.power.limit.watts", Kind::kNumber, "W"},
    {"enforced.power.limit", "gpu.power.limit.watts", Kind::kNumber, "W"},
    {"power.default_limit", "gpu.power.default_limit.watts", Kind::kNumber, "W"},
    {"power.max_limit", "gpu.power.max_limit.watts", Kind::kNumber, "W"},
    {"temperature.gpu", "gpu.temperature.celsius", Kind::kReading, "C"},
    {"clocks.sm", "gpu.clock.sm.hertz", Kind::kReading, "MHz", kHertz},
    {"clocks.current.sm", "gpu.clock.sm.hertz", Kind::kReading, "MHz", kHertz},
    {"clocks.gr", "gpu.clock.sm.hertz", Kind::kReading, "MHz", kHertz},
    {"clocks.current.graphics", "gpu.clock.sm.hertz", Kind::kReading, "MHz", kHertz},
    {"clocks.max.sm", "gpu.clock.sm.max.hertz", Kind::kNumber, "MHz", kHertz},
    {"clocks.max.graphics", "gpu.clock.sm.max.hertz", Kind::kNumber, "MHz", kHertz},
    {"clocks.mem", "gpu.clock.memory.hertz", Kind::kReading, "MHz", kHertz},
    {"clocks.current.memory", "gpu.clock.memory.hertz", Kind::kReading, "MHz", kHertz},
    {"pcie.link.gen.current", "gpu.pcie.generation.current", Kind::kWhole},
    {"pcie.link.gen.gpucurrent", "gpu.pcie.generation.current", Kind::kWhole},
    {"pcie.link.gen.max", "gpu.pcie.generation.max", Kind::kWhole},
    {"pcie.link.width.current", "gpu.pcie.width.current", Kind::kWhole},
    {"pcie.link.width.max", "gpu.pcie.width.max", Kind::kWhole},
    {"ecc.errors.uncorrected.volatile.total", "gpu.ecc.uncorrected", Kind::kWhole},
};

struct Reason {
  std::string_view query, name;
  unsigned bit;
};
constexpr Reason kReasons[] = {
    {"gpu_idle", "gpu_idle", 0x1},
    {"applications_clocks_setting", "applications_clocks_setting", 0x2},
    {"sw_power_cap", "sw_power_cap", 0x4},
    {"hw_slowdown", "hw_slowdown", 0x8},
    {"sync_boost", "sync_boost", 0x10},
    {"sw_thermal_slowdown", "sw_thermal_slowdown", 0x20},
    {"hw_thermal_slowdown", "hw_thermal_slowdown", 0x40},
    {"hw_power_brake_slowdown", "hw_power_brake", 0x80},
};

const Column* FindColumn(std::string_view query) {
  const auto* place =
      std::find_if(std::begin(kColumns), std::end(kColumns), [&](const Column& row) { return row.query == query; });
  return place == std::end(kColumns) ? nullptr : place;
}

// The part behind "clocks_event_reasons.", until driver 535 "clocks_throttle_reasons."; "" for other columns.
std::string_view ReasonPart(std::string_view query) {
  for (const std::string_view prefix : {"clocks_event_reasons.", "clocks_throttle_reasons."}) {
    if (StartsWith(query, prefix)) return query.substr(prefix.size());
  }
  return "";
}

bool Known(std::string_view query) {
  if (FindColumn(query) != nullptr || !ReasonPart(query).empty()) return true;
  for (const std::string_view name :
       {"index", "timestamp", "driver_version", "count", "pid", "process_name", "used_gpu_memory", "used_memory",
        "gpu_serial", "serial", "vbios_version", "display_mode", "fan.speed", "memory.free", "gom.current"}) {
    if (query == name) return true;
  }
  for (const std::string_view family : {"power.", "clocks.", "temperature.", "ecc.", "pcie.", "pci.", "utilization.",
                                        "encoder.stats.", "retired_pages.", "accounting.", "inforom.", "module."}) {
    if (StartsWith(query, family)) return true;
  }
  return false;
}

std::optional<double> Number(const Column& column, std::string_view field) {
  if (column.kind == Kind::kPState) {
    const std::optional<long long> state = StartsWith(field, "P") ? ParseInt(field.substr(1)) : std::nullopt;
    return state && *state >= 0 && *state <= kMostPStates ? std::optional<double>(static_cast<double>(*state))
                                                          : std::nullopt;
  }
  std::optional<double> number = column.unit.empty() ? std::nullopt : NumberWithUnit(field, column.unit);
  if (!number) number = ParseDouble(field);  // --format=csv,nounits
  if (!number || !Plausible(column.name, *number * column.factor)) return std::nullopt;
  const double value = *number * column.factor;
  return std::abs(value) <= kMostOfAnything ? std::optional<double>(value) : std::nullopt;
}

bool IsSwitch(std::string_view field) { return field == "Enabled" || field == "Disabled"; }

std::optional<unsigned long long> Mask(std::string_view field) {
  if (!StartsWith(field, "0x") || field.size() != kMaskLength) return std::nullopt;  // shorter: cut off
  const std::optional<long long> mask = ParseInt(field.substr(2), 16);
  return mask && *mask >= 0 ? std::optional<unsigned long long>(*mask) : std::nullopt;
}

}  // namespace

std::vector<std::string_view> CsvFields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (const std::string_view field : Split(Trim(line), ',')) fields.push_back(Trim(field));
  return fields;
}

std::vector<Heading> ParseCsvHeader(std::string_view line) {
  // Cheap for lines that are none: names are of small letters, a unit stands behind a blank.
  const std::string_view first = Trim(line.substr(0, line.find(',')));
  const size_t end = first.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._");
  if (end == 0 || (end != std::string_view::npos && first.substr(end, 2) != " [")) return {};
  const std::vector<std::string_view> fields = CsvFields(line);
  if (fields.empty() || fields.size() > kMostColumns) return {};
  std::vector<Heading> headings;
  size_t known = 0, telling = 0;
  for (const std::string_view field : fields) {
    const size_t open = field.find(" [");
    const bool unit = open != std::string_view::npos && field.back() == ']';
    headings.push_back({std::string(unit ? Trim(field.substr(0, open)) : field), unit});
    if (!Known(headings.back().query)) continue;
    ++known;
    telling += unit || field.find_first_of("._") != std::string_view::npos ? 1U : 0U;
  }
  const bool one = fields.size() == 1 && known == 1 && headings[0].unit;  // "utilization.gpu [%]" alone
  const bool many = known >= 2 && telling >= 1 && known * 3 >= fields.size() * 2;
  return one || many ? headings : std::vector<Heading>{};
}

std::vector<Heading> ParseCsvCommand(std::string_view line) {
  if (!Contains(line, "noheader")) return {};
  for (const std::string_view option :
       {"--query-gpu=", "--query-compute-apps=", "--query-gpu ", "--query-compute-apps "}) {
    const size_t place = line.find(option);
    if (place == std::string_view::npos) continue;
    std::string_view list = Trim(line.substr(place + option.size()));
    while (!list.empty() && (list[0] == '"' || list[0] == '\'')) list.remove_prefix(1);
    list = list.substr(0, list.find_first_of(" \t\"'"));
    std::vector<Heading> headings;
    for (const std::string_view field : CsvFields(list)) headings.push_back({std::string(field), false});
    const bool known =
        std::any_of(headings.begin(), headings.end(), [](const Heading& row) { return Known(row.query); });
    return known && headings.size() <= kMostColumns ? headings : std::vector<Heading>{};
  }
  return {};
}

bool RepeatsQuery(std::string_view line) {
  return Contains(line, "--query-") && (Contains(line, " -l") || Contains(line, "--loop"));
}

std::optional<bool> FieldFits(std::string_view query, std::string_view field) {
  const auto starts = [&](std::string_view begin) { return StartsWith(field, begin); };
  const bool digit = !field.empty() && std::isdigit(static_cast<unsigned char>(field[0])) != 0;
  if (NoValue(field)) return true;
  if (query == "index" || query == "pid" || query == "count") return ParseInt(field).has_value();
  if (query == "timestamp") return digit && Contains(field, ":");
  if (query == "driver_version") return digit && Contains(field, ".");
  if (query == "uuid" || query == "gpu_uuid") return starts("GPU-") || starts("MIG-");
  if (query == "used_gpu_memory" || query == "used_memory") return MemoryBytes(field) || ParseDouble(field);
  if (query == "pci.bus_id" || query == "gpu_bus_id") return !BusIdOf(field).empty();
  if (!ReasonPart(query).empty()) return field == "Active" || field == "Not Active" || Mask(field);
  const Column* column = FindColumn(query);
  if (column == nullptr || column->kind == Kind::kText) return std::nullopt;
  if (column->kind == Kind::kMode) return !ComputeMode(field).empty();
  if (column->kind == Kind::kSwitch) return IsSwitch(field);
  return Number(*column, field).has_value();
}

bool HasUnit(std::string_view query, std::string_view field) {
  if (query == "used_gpu_memory" || query == "used_memory") return MemoryBytes(field).has_value();
  const Column* column = FindColumn(query);
  return column != nullptr && !column->unit.empty() && NumberWithUnit(field, column->unit);
}

bool WriteField(GpuReadings& readings, long long gpu, std::string_view query, std::string_view field, size_t line) {
  const Column* column = FindColumn(query);
  const std::string reason = ThrottleReason(query);
  if (!reason.empty() && reason != "active" && NoValue(field))  // which of them hold is told of all rows together
    readings.Put(gpu, ("gpu.throttle_reason." + reason).c_str(), Absent(field), line);
  if (column == nullptr) return true;
  const std::optional<bool> fits = FieldFits(query, field);
  if (field.empty() || fits == false) return false;
  const bool reads = column->kind == Kind::kReading || column->kind == Kind::kPState;
  if (NoValue(field)) {
    WriteReading(readings, gpu, column->name, std::nullopt, field, line);
    return true;
  }
  if (reads) {
    readings.Read(gpu, column->name, Number(*column, field), field, line);
    return true;
  }
  Value value = Value::Of(std::string(field));
  if (column->kind == Kind::kMode) value = Value::Of(ComputeMode(field));
  if (column->kind == Kind::kSwitch) value = Value::Of(field == "Enabled");
  if (column->kind == Kind::kNumber) value = Value::Of(*Number(*column, field));
  if (column->kind == Kind::kWhole) value = Value::Of(static_cast<int64_t>(*Number(*column, field)));
  readings.Put(gpu, column->name, std::move(value), line);
  return true;
}

std::string ThrottleReason(std::string_view query) {
  const std::string_view part = ReasonPart(query);
  for (const Reason& reason : kReasons) {
    if (part == reason.query) return std::string(reason.name);
  }
  return part == "active" ? "active" : "";
}

std::vector<std::pair<std::string, bool>> ThrottleReasons(std::string_view mask) {
  std::vector<std::pair<std::string, bool>> reasons;
  const std::optional<unsigned long long> bits = Mask(mask);
  if (!bits) return reasons;
  for (const Reason& reason : kReasons) reasons.emplace_back(reason.name, (*bits & reason.bit) != 0);
  return reasons;
}

}  // namespace gpuwhy::nvidia_smi
