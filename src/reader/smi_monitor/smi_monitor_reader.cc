// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/gpu_readings.h"
#include "reader/reader.h"
#include "reader/words.h"

// Rolling lists of nvidia-smi: `dmon` (one row a GPU) and `pmon` (one row a process). Both are read by the names in
// their header row, because the columns follow the options and the driver.
namespace gpuwhy {
namespace {

constexpr size_t kMostColumns = 64;
constexpr long long kMostGpus = 1024;
constexpr double kPercent = 0.01;

// Columns of dmon that are readings: name in the header, our metric, what one unit of it is.
struct Column {
  std::string_view header;
  const char* metric;
  double factor;
};
constexpr Column kGpuColumns[] = {
    {"sm", "gpu.utilization.ratio", kPercent},
    {"mem", "gpu.memory_utilization.ratio", kPercent},
    {"pwr", "gpu.power.watts", 1},
    {"gtemp", "gpu.temperature.celsius", 1},
    {"temp", "gpu.temperature.celsius", 1},  // before driver 396
    {"pclk", "gpu.clock.sm.hertz", 1e6},
    {"mclk", "gpu.clock.memory.hertz", 1e6},
    {"fb", "gpu.memory.used.bytes", kBytesPerMebibyte},  // printed as MB, counted in MiB
};
constexpr Column kProcessColumns[] = {
    {"sm", "process.gpu.sm.ratio", kPercent},
    {"fb", "process.gpu.memory.bytes", kBytesPerMebibyte},
};

// dmon's columns of limits that were reached; the help of `nvidia-smi dmon` calls them power violation in percent and
// thermal violation, yes or no.
constexpr Column kLimits[] = {
    {"pviol", "gpu.throttle_reason.sw_power_cap", 1},
    {"tviol", "gpu.throttle_reason.sw_thermal_slowdown", 1},
};

using Row = std::vector<std::string_view>;

// Without the commas of --format csv.
Row Cells(std::string_view line) {
  Row cells = Words(line);
  for (std::string_view& cell : cells) {
    if (cell.size() > 1 && cell.back() == ',') cell.remove_suffix(1);
  }
  return cells;
}

bool Has(const Row& cells, std::string_view name) { return std::find(cells.begin(), cells.end(), name) != cells.end(); }

// "gpu" comes first, behind a date and a time at most, and one column at least is one of these lists'.
bool IsHeader(const Row& cells) {
  if (cells.size() < 2 || cells.size() > kMostColumns) return false;
  const Row first(cells.begin(), cells.begin() + std::min<std::ptrdiff_t>(3, std::ssize(cells)));
  return Has(first, "gpu") && std::any_of(cells.begin(), cells.end(), [](std::string_view cell) {
           constexpr std::string_view kTelling[] = {"sm", "pid", "pwr", "mclk", "pviol", "fb", "sbecc", "rxpci"};
           return std::find(std::begin(kTelling), std::end(kTelling), cell) != std::end(kTelling);
         });
}

class Monitor {
 public:
  Monitor(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink), readings_(text, sink) {}

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const std::string_view line = Trim(text_[i]);
      if (line.empty()) continue;
      if (line[0] == '#') {
        Heading(line, i);
      } else if (!header_.empty()) {
        Body(Cells(line), i);
      }
    }
  }

 private:
  // "# gpu pwr gtemp" or "# Idx W C", with options "#Date Time gpu" and "#YYYYMMDD HH:MM:SS Idx"; a table that lost its
  // line ends has both of them and its rows in one line.
  void Heading(std::string_view line, size_t i) {
    line.remove_prefix(1);
    const size_t next = line.find('#');
    const Row cells = Cells(line.substr(0, next));
    if (cells.empty()) return;
    if (IsHeader(cells)) {
      header_ = cells;
      text_.Claim(i);
      if (next != std::string_view::npos) Joined(line.substr(next + 1), i);
    } else if (!header_.empty() && Has(cells, "Idx")) {
      text_.Claim(i);
    } else {
      header_.clear();
    }
  }

  // Units and rows behind a header in one line: the header says how many cells a row has.
  void Joined(std::string_view rest, size_t i) {
    Row row;
    for (const std::string_view cell : Cells(rest)) {
      if (cell == "#" && row.empty()) continue;  // "#" alone is also the unit of a PID
      row.push_back(cell);
      if (row.size() < header_.size()) continue;
      if (ParseInt(Cell(row, "gpu"))) Body(row, i);
      row.clear();
    }
  }

  // Position of a column of the header; its size when there is none.
  size_t At(std::string_view name) const {
    return static_cast<size_t>(std::find(header_.begin(), header_.end(), name) - header_.begin());
  }
  std::string_view Cell(const Row& row, std::string_view name) const {
    const size_t at = At(name);
    return at < header_.size() && at < row.size() ? row[at] : std::string_view();
  }

  void Body(const Row& row, size_t i) {
    const std::optional<long long> gpu = ParseInt(Cell(row, "gpu"));
    if (!gpu || *gpu < 0 || *gpu > kMostGpus) {
      header_.clear();  // the list is over
      return;
    }
    const bool processes = At("pid") < header_.size();
    // Names of programs may be cut off or have blanks; every other cell has to be there.
    const bool complete = processes ? row.size() + 1 >= header_.size() : row.size() == header_.size();
    if (!complete) return AddRowGap(sink_, processes ? "nvidia-smi pmon" : "nvidia-smi dmon", text_.lines()[i]);
    text_.Claim(i);
    if (processes)
      Process(*gpu, row, i);
    else
      Gpu(*gpu, row, i);
  }

  // Drivers have printed shares such as 37100 % (nvtop #110); one above 100 is no reading.
  static std::optional<double> Number(std::string_view cell, double factor) {
    const std::optional<double> number = ParseDouble(cell);
    if (!number || (factor == kPercent && (*number < 0 || *number > 100))) return std::nullopt;
    return *number * factor;
  }

  void Gpu(long long gpu, const Row& row, size_t i) {
    readings_.Next(gpu);
    readings_.Put(gpu, "gpu.index", Value::Of(static_cast<int64_t>(gpu)), i);
    for (const Column& column : kGpuColumns) {
      const std::string_view cell = Cell(row, column.header);
      if (!cell.empty()) readings_.Read(gpu, column.metric, Number(cell, column.factor), cell, i);
    }
    for (const Column& column : kLimits) {
      const std::optional<double> reached = Number(Cell(row, column.header), 1);
      // Once in the list is enough: a later row without it takes nothing back.
      if (!reached || limited_.count({gpu, column.metric}) > 0) continue;
      if (*reached > 0) limited_.insert({gpu, column.metric});
      readings_.Put(gpu, column.metric, Value::Of(*reached > 0), i);
    }
  }

  void Process(long long gpu, const Row& row, size_t i) {
    const std::optional<long long> pid = ParseInt(Cell(row, "pid"));
    if (!pid || *pid <= 0) return;  // "-": no process that can be seen on this GPU
    const Entity entity = Entity::ProcessOnGpu(*pid, TextGpu(gpu).id);
    const TextLine& line = text_.lines()[i];
    AddQuoted(sink_, "process.gpu.listed", entity, Value::Of(true), Source::kDriver, line);
    const std::string_view type = Cell(row, "type");
    if (!type.empty() && type != "-")
      AddQuoted(sink_, "process.gpu.type", entity, Value::Of(std::string(type)), Source::kDriver, line);
    for (const Column& column : kProcessColumns) {
      const std::string_view cell = Cell(row, column.header);
      if (!cell.empty()) readings_.Read(entity, column.metric, Number(cell, column.factor), cell, i, Source::kDriver);
    }
    std::string name;
    for (size_t at = At("command"); at < row.size(); ++at) name += (name.empty() ? "" : " ") + std::string(row[at]);
    if (!name.empty() && name != "-") AddQuoted(sink_, "process.name", entity, Value::Of(name), Source::kDriver, line);
  }

  PastedText& text_;
  EvidenceSink& sink_;
  GpuReadings readings_;
  Row header_;
  std::set<std::pair<long long, std::string>> limited_;
};

void ReadMonitor(PastedText& text, EvidenceSink& sink) { Monitor(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_smi_monitor;
constinit const ReaderInfo kReader_smi_monitor{"smi_monitor", &ReadMonitor};

}  // namespace gpuwhy
