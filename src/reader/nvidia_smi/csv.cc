// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/nvidia_smi/cells.h"
#include "reader/nvidia_smi/gpu_row.h"
#include "reader/nvidia_smi/table.h"

namespace gpuwhy::nvidia_smi {
namespace {

constexpr double kMebibyte = 1048576;

// A column of --query-gpu: name of nvidia-smi (without its unit), our metric or fact, and how its value reads.
enum class Kind { kText, kInteger, kReading, kPercent, kPState, kMode, kSwitch, kReason };
struct Column {
  std::string_view query, name;
  Kind kind;
  std::string_view unit;
  double factor;
};

// Names of `nvidia-smi --help-query-gpu`, drivers 352 to 610; "clocks_throttle_reasons" became "clocks_event_reasons".
constexpr Column kColumns[] = {
    {"name", "gpu.name", Kind::kText, "", 1},
    {"gpu_name", "gpu.name", Kind::kText, "", 1},
    {"uuid", "gpu.uuid", Kind::kText, "", 1},
    {"gpu_uuid", "gpu.uuid", Kind::kText, "", 1},
    {"pci.bus_id", "gpu.bus_id", Kind::kText, "", 1},
    {"gpu_bus_id", "gpu.bus_id", Kind::kText, "", 1},
    {"pstate", "gpu.pstate", Kind::kPState, "", 1},
    {"utilization.gpu", "gpu.utilization.ratio", Kind::kPercent, "%", 0.01},
    {"utilization.memory", "gpu.memory_utilization.ratio", Kind::kPercent, "%", 0.01},
    {"memory.used", "gpu.memory.used.bytes", Kind::kReading, "MiB", kMebibyte},
    {"memory.total", "gpu.memory.total.bytes", Kind::kInteger, "MiB", kMebibyte},
    {"power.draw", "gpu.power.watts", Kind::kReading, "W", 1},
    {"power.draw.instant", "gpu.power.watts", Kind::kReading, "W", 1},
    {"power.limit", "gpu.power.limit.watts", Kind::kInteger, "W", 1},
    {"enforced.power.limit", "gpu.power.limit.watts", Kind::kInteger, "W", 1},
    {"power.default_limit", "gpu.power.default_limit.watts", Kind::kInteger, "W", 1},
    {"temperature.gpu", "gpu.temperature.celsius", Kind::kReading, "", 1},
    {"clocks.sm", "gpu.clock.sm.hertz", Kind::kReading, "MHz", 1e6},
    {"clocks.current.sm", "gpu.clock.sm.hertz", Kind::kReading, "MHz", 1e6},
    {"clocks.gr", "gpu.clock.sm.hertz", Kind::kReading, "MHz", 1e6},
    {"clocks.current.graphics", "gpu.clock.sm.hertz", Kind::kReading, "MHz", 1e6},
    {"clocks.max.sm", "gpu.clock.sm.max.hertz", Kind::kInteger, "MHz", 1e6},
    {"clocks.max.graphics", "gpu.clock.sm.max.hertz", Kind::kInteger, "MHz", 1e6},
    {"clocks.mem", "gpu.clock.memory.hertz", Kind::kReading, "MHz", 1e6},
    {"pcie.link.gen.current", "gpu.pcie.generation.current", Kind::kInteger, "", 1},
    {"pcie.link.gen.gpucurrent", "gpu.pcie.generation.current", Kind::kInteger, "", 1},
    {"pcie.link.gen.max", "gpu.pcie.generation.max", Kind::kInteger, "", 1},
    {"pcie.link.width.current", "gpu.pcie.width.current", Kind::kInteger, "", 1},
    {"pcie.link.width.max", "gpu.pcie.width.max", Kind::kInteger, "", 1},
    {"compute_cap", "gpu.compute_capability", Kind::kText, "", 1},
    {"compute_mode", "gpu.compute_mode", Kind::kMode, "", 1},
    {"mig.mode.current", "gpu.mig.mode", Kind::kSwitch, "", 1},
    {"persistence_mode", "gpu.persistence_mode", Kind::kSwitch, "", 1},
    {"driver_model.current", "gpu.driver_model", Kind::kText, "", 1},
    {"ecc.errors.uncorrected.volatile.total", "gpu.ecc.uncorrected", Kind::kInteger, "", 1},
};

struct Heading {
  std::string query, unit;  // "power.draw", "W"
};

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (const std::string_view field : Split(line, ',')) fields.push_back(Trim(field));
  return fields;
}

Heading ParseHeading(std::string_view field) {
  const size_t open = field.find(" [");
  if (open == std::string_view::npos || field.back() != ']') return {std::string(field), ""};
  return {std::string(Trim(field.substr(0, open))), std::string(field.substr(open + 2, field.size() - open - 3))};
}

const Column* FindColumn(std::string_view query) {
  const auto* place =
      std::find_if(std::begin(kColumns), std::end(kColumns), [&](const Column& row) { return row.query == query; });
  return place == std::end(kColumns) ? nullptr : place;
}

bool IsReason(std::string_view query) {
  return query.rfind("clocks_event_reasons.", 0) == 0 || query.rfind("clocks_throttle_reasons.", 0) == 0;
}

bool Known(std::string_view query) {
  return FindColumn(query) != nullptr || IsReason(query) || query == "index" || query == "timestamp" ||
         query == "driver_version" || query == "pid" || query == "process_name" || query == "used_gpu_memory" ||
         query == "used_memory" || query == "count";
}

// The header row of a query: every field is a name of nvidia-smi's, or nearly every one (newer drivers add names).
std::vector<Heading> ParseHeader(std::string_view line) {
  std::vector<Heading> headings;
  size_t known = 0;
  for (const std::string_view field : Fields(line)) {
    headings.push_back(ParseHeading(field));
    known += Known(headings.back().query) ? 1U : 0U;
  }
  const bool telling = std::any_of(headings.begin(), headings.end(), [](const Heading& heading) {
    return Contains(heading.query, ".") || Contains(heading.query, "_") || !heading.unit.empty();
  });
  return known >= 2 && known * 3 >= headings.size() * 2 && telling ? headings : std::vector<Heading>{};
}

// What the options of a command line ask for, where its answer has no header row.
std::vector<Heading> ParseCommand(std::string_view line) {
  for (const char* option : {"--query-gpu=", "--query-compute-apps="}) {
    const size_t place = line.find(option);
    if (place == std::string_view::npos || !Contains(line, "noheader")) continue;
    std::string_view list = line.substr(place + std::string_view(option).size());
    list = list.substr(0, list.find_first_of(" \t"));
    std::vector<Heading> headings;
    for (const std::string_view field : Fields(list)) headings.push_back({std::string(field), ""});
    return headings;
  }
  return {};
}

class Query {
 public:
  Query(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink), writer_(text, sink) {}

  void Read() {
    std::vector<Heading> headings;
    for (size_t i = 0; i < text_.size(); ++i) {
      const std::string& line = text_[i];
      if (!headings.empty() && Row(headings, i)) continue;
      std::vector<Heading> next;
      if (line.find(',') != std::string::npos && line.find_first_of("._") != std::string::npos) {
        next = ParseHeader(line);
        if (next.empty()) next = ParseCommand(line);
      }
      if (!next.empty()) text_.Claim(i);
      headings = std::move(next);
    }
  }

 private:
  bool Row(const std::vector<Heading>& headings, size_t i) {
    const std::vector<std::string_view> fields = Fields(text_[i]);
    // The next command of the session has as many commas as the row that it asks for.
    if (fields.size() != headings.size() || Contains(text_[i], "nvidia-smi")) return false;
    if (!ParseHeader(text_[i]).empty()) return false;  // the header once more, or of another query
    const auto at = [&](std::string_view query) -> std::string_view {
      for (size_t k = 0; k < headings.size(); ++k) {
        if (headings[k].query == query) return fields[k];
      }
      return "";
    };
    text_.Claim(i);
    if (const std::optional<long long> pid = ParseInt(at("pid"))) {
      Process(*pid, at("process_name"), at("used_gpu_memory").empty() ? at("used_memory") : at("used_gpu_memory"), i);
      return true;
    }
    const long long gpu =
        Index(at("index"), std::string(at("uuid")) + std::string(at("pci.bus_id")) + std::string(at("name")), i);
    writer_.Begin(gpu);
    if (!at("driver_version").empty())
      AddQuoted(sink_, "driver.version", Entity::Host(), Value::Of(std::string(at("driver_version"))), Source::kDriver,
                text_.lines()[i]);
    for (size_t k = 0; k < headings.size(); ++k) Field(gpu, headings[k], fields[k], i);
    return true;
  }

  // Without an index column a row that repeats an earlier row's GPU is its next reading.
  long long Index(std::string_view index, const std::string& identity, size_t i) {
    if (const std::optional<long long> number = ParseInt(index)) {
      writer_.Put(*number, "gpu.index", Value::Of(static_cast<int64_t>(*number)), Source::kDevice, i);
      return *number;
    }
    const auto [place, fresh] = known_.emplace(identity, static_cast<long long>(known_.size()));
    if (fresh)
      writer_.Put(place->second, "gpu.index", Value::Of(static_cast<int64_t>(place->second)), Source::kDevice, i);
    return place->second;
  }

  void Process(long long pid, std::string_view name, std::string_view memory, size_t i) {
    const Entity entity = Entity::ProcessOnGpu(pid, TextGpu(0).id);
    const TextLine& line = text_.lines()[i];
    AddQuoted(sink_, "process.gpu.listed", entity, Value::Of(true), Source::kDriver, line);
    AddQuoted(sink_, "process.gpu.type", entity, Value::Of(std::string("C")), Source::kDriver, line);
    if (!name.empty()) AddQuoted(sink_, "process.name", entity, Value::Of(std::string(name)), Source::kDriver, line);
    std::optional<double> bytes = NumberWithUnit(memory, "MiB");
    if (!bytes) bytes = ParseDouble(memory);
    AddQuoted(sink_, "process.gpu.memory.bytes", entity,
              bytes ? Value::Of(static_cast<int64_t>(*bytes * kMebibyte))
                    : Value::Missing(State::kUnsupported, std::string(memory)),
              Source::kDriver, line);
  }

  void Reason(long long gpu, std::string_view query, std::string_view field, size_t i) {
    const std::string name = "gpu.throttle_reason." + std::string(query.substr(query.find('.') + 1));
    if (field == "Active" || field == "Not Active")
      writer_.Put(gpu, name.c_str(), Value::Of(field == "Active"), Source::kDevice, i);
  }

  void Field(long long gpu, const Heading& heading, std::string_view field, size_t i) {
    if (IsReason(heading.query)) return Reason(gpu, heading.query, field, i);
    const Column* column = FindColumn(heading.query);
    if (column == nullptr) return;
    const std::string name(column->name);
    if (column->kind == Kind::kText && !NoValue(field))
      return writer_.Put(gpu, name.c_str(), Value::Of(std::string(field)), Source::kDevice, i);
    if (column->kind == Kind::kMode)
      return writer_.Put(gpu, name.c_str(), Value::Of(ComputeMode(field)), Source::kDevice, i);
    if (column->kind == Kind::kSwitch && (field == "Enabled" || field == "Disabled"))
      return writer_.Put(gpu, name.c_str(), Value::Of(field == "Enabled"), Source::kDevice, i);
    std::optional<double> number = NumberWithUnit(field, column->unit);
    if (!number) number = ParseDouble(column->kind == Kind::kPState && !field.empty() ? field.substr(1) : field);
    if (number) number = *number * column->factor;
    if (column->kind == Kind::kReading || column->kind == Kind::kPercent || column->kind == Kind::kPState)
      return writer_.Reading(gpu, name.c_str(), number, field, i);
    if (column->kind == Kind::kInteger)
      writer_.Put(gpu, name.c_str(),
                  number ? Value::Of(*number) : Value::Missing(State::kUnsupported, std::string(field)),
                  Source::kDevice, i);
  }

  PastedText& text_;
  EvidenceSink& sink_;
  GpuWriter writer_;
  std::map<std::string, long long> known_;
};

}  // namespace

void ReadQueries(PastedText& text, EvidenceSink& sink) { Query(text, sink).Read(); }

}  // namespace gpuwhy::nvidia_smi
