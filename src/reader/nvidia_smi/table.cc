// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "reader/nvidia_smi/cells.h"
#include "reader/nvidia_smi/gpu_row.h"

namespace gpuwhy::nvidia_smi {
namespace {

constexpr double kMebibyte = 1048576;

enum class Section { kNone, kGpus, kMig, kProcesses };

bool IsType(std::string_view word) {
  return word == "C" || word == "G" || word == "C+G" || word == "G+C" || word == "M+C" || word == "M";
}

// A row of the process box: "0 N/A N/A 1480 G /usr/lib/xorg/Xorg 301MiB", before driver 450 without GI and CI.
struct ProcessRow {
  long long gpu = 0, pid = 0;
  std::string type, name, instance;
  std::string_view memory;
};

std::optional<ProcessRow> ParseProcess(std::string_view cell) {
  const std::vector<std::string_view> words = Words(cell);
  for (const size_t at : {size_t{2}, size_t{4}}) {
    if (words.size() <= at + 1 || !IsType(words[at])) continue;
    const std::optional<long long> gpu = ParseInt(words[0]), pid = ParseInt(words[at - 1]);
    if (!gpu || !pid) continue;
    ProcessRow row{*gpu, *pid, std::string(words[at]), "", "", words.back()};
    if (at == 4 && ParseInt(words[1])) row.instance = std::string(words[1]) + "/" + std::string(words[2]);
    const bool memory = row.memory.size() > 3 && row.memory.substr(row.memory.size() - 3) == "MiB";
    const size_t end = memory || NoValue(row.memory) ? words.size() - 1 : words.size();
    for (size_t i = at + 1; i < end; ++i) row.name += (row.name.empty() ? "" : " ") + std::string(words[i]);
    if (end == words.size()) row.memory = "";
    return row;
  }
  return std::nullopt;
}

// The left upper cell of a GPU: "0 NVIDIA GeForce RTX 4050 ... WDDM", then the cell with the bus id.
struct GpuHead {
  long long index = 0;
  std::string name, mode;  // mode: On, Off, WDDM, TCC, MCDM or N/A
};

std::optional<GpuHead> ParseHead(std::string_view cell) {
  const std::vector<std::string_view> words = Words(cell);
  if (words.size() < 2) return std::nullopt;
  const std::optional<long long> index = ParseInt(words[0]);
  if (!index || *index < 0 || *index > 1024) return std::nullopt;
  GpuHead head{*index, "", ""};
  size_t end = words.size();
  for (const std::string_view mode : {"On", "Off", "WDDM", "TCC", "MCDM", "N/A", "On-Demand"}) {
    if (words.back() == mode) head.mode = std::string(mode);
  }
  if (!head.mode.empty()) --end;
  for (size_t i = 1; i < end; ++i) head.name += (i == 1 ? "" : " ") + std::string(words[i]);
  return head.name.empty() ? std::nullopt : std::optional<GpuHead>(std::move(head));
}

class Walker {
 public:
  Walker(PastedText& text, EvidenceSink& sink)
      : text_(text), sink_(sink), writer_(text, sink), cells_(FindCells(text)) {}

  void Walk() {
    for (at_ = 0; at_ < cells_.size(); ++at_) {
      if (cells_[at_].border)
        Border();
      else if (Title() || Heading() || Gpu() || Mig() || Process())
        text_.Claim(cells_[at_].line);
    }
    CloseBox();
    AddInstances();
  }

 private:
  std::string_view Here() const { return cells_[at_].text; }
  size_t Line() const { return cells_[at_].line; }
  void Host(const char* name, Value value, Source source) {
    AddQuoted(sink_, name, Entity::Host(), std::move(value), source, text_.lines()[Line()]);
  }

  bool Title() {
    if (!Contains(Here(), "NVIDIA-SMI") && !Contains(Here(), "Driver Version:") && !Contains(Here(), "KMD Version"))
      return false;
    // The words are those of the titles of 352 to 610; a chat that mentions nvidia-smi has no version behind them.
    const std::optional<std::string> program = VersionAfter(Here(), "NVIDIA-SMI");
    std::optional<std::string> driver = VersionAfter(Here(), "Driver Version");
    if (!driver) driver = VersionAfter(Here(), "KMD Version");
    std::optional<std::string> cuda = VersionAfter(Here(), "CUDA Version");
    if (!cuda) cuda = VersionAfter(Here(), "CUDA UMD Version");
    if (program) Host("driver.nvidia_smi.version", Value::Of(*program), Source::kDriver);
    if (driver) Host("driver.version", Value::Of(*driver), Source::kDriver);
    if (cuda) Host("driver.cuda_version", Value::Of(*cuda), Source::kDriver);
    if (!program && !driver) return false;
    CloseBox();
    section_ = Section::kGpus;
    gpu_ = -1;
    return true;
  }

  bool Heading() {
    const std::string_view cell = Here();
    if (cell == "MIG devices:") {
      section_ = Section::kMig;
      mig_seen_ = true;
      return true;
    }
    if (Contains(cell, "Processes:") && cell.substr(0, 10) == "Processes:") {
      CloseBox();
      section_ = Section::kProcesses;
      box_ = Box{Line(), 0, false, false};
      return true;
    }
    for (const char* start : {"GPU Name", "GPU  Name", "Fan",           "Bus-Id", "Memory-Usage", "Volatile Uncorr",
                              "GPU-Util", "MIG M.",    "Driver-Model",  "GPU GI", "GPU  GI",      "ID ID",
                              "ID  ID",   "GPU PID",   "GPU       PID", "Vol",    "Shared",       "SM",
                              "CE",       "ECC",       "BAR1-Usage"}) {
      if (section_ != Section::kNone && cell.substr(0, std::string_view(start).size()) == start) return true;
    }
    return false;
  }

  void Border() {
    if (section_ == Section::kProcesses && box_) {
      // The rule under the header opens the box, the next one closes it.
      (box_->open ? box_->closed : box_->open) = true;
      text_.Claim(Line());
      if (box_->closed) CloseBox();
    } else if (section_ != Section::kNone) {
      text_.Claim(Line());
    }
  }

  bool NextHasBus() const {
    return at_ + 1 < cells_.size() && !cells_[at_ + 1].border && !BusIdIn(cells_[at_ + 1].text).empty();
  }

  bool Gpu() {
    if (NextHasBus()) {
      if (const std::optional<GpuHead> head = ParseHead(Here())) return Begin(*head);
      AddRowGap(sink_, "nvidia-smi", text_.lines()[Line()]);
      gpu_ = -1;
      return true;
    }
    if (gpu_ < 0 || section_ != Section::kGpus) return false;
    const std::string_view cell = Here();
    if (BusIdIn(cell) == bus_ && !bus_.empty()) return Bus(cell);
    if (cell == "Enabled" && section_ == Section::kGpus) mig_lines_[gpu_] = Line();
    return ReadSensors(writer_, gpu_, cell, Line()) || ReadUse(writer_, gpu_, cell, Line()) ||
           ReadMemory(writer_, gpu_, cell, Line()) || ReadMigMode(writer_, gpu_, cell, Line()) || Ecc(cell);
  }

  bool Begin(const GpuHead& head) {
    section_ = Section::kGpus;
    gpu_ = head.index;
    bus_ = BusIdIn(cells_[at_ + 1].text);
    writer_.Begin(gpu_);
    writer_.Put(gpu_, "gpu.index", Value::Of(static_cast<int64_t>(gpu_)), Source::kDevice, Line());
    writer_.Put(gpu_, "gpu.name", Value::Of(head.name), Source::kDevice, Line());
    writer_.Put(gpu_, "gpu.bus_id", Value::Of(bus_), Source::kDevice, Line());
    if (head.mode == "On" || head.mode == "Off")
      writer_.Put(gpu_, "gpu.persistence_mode", Value::Of(head.mode == "On"), Source::kDevice, Line());
    if (head.mode == "WDDM" || head.mode == "TCC" || head.mode == "MCDM") {
      writer_.Put(gpu_, "gpu.driver_model", Value::Of(head.mode), Source::kDevice, Line());
      Host("host.os.name", Value::Of(std::string("windows")), Source::kOs);
    }
    return true;
  }

  bool Bus(std::string_view cell) {
    const std::vector<std::string_view> words = Words(cell);
    if (words.back() == "On" || words.back() == "Off")
      writer_.Put(gpu_, "gpu.display_active", Value::Of(words.back() == "On"), Source::kDevice, Line());
    return true;
  }

  bool Ecc(std::string_view cell) {
    if (const std::optional<long long> errors = ParseInt(cell))
      writer_.Put(gpu_, "gpu.ecc.uncorrected", Value::Of(static_cast<int64_t>(*errors)), Source::kDevice, Line());
    return ParseInt(cell) || NoValue(cell) || cell == "Off" || cell == "On";
  }

  // "1 3 0 0" (GPU, GI, CI, device), then the memory of that instance.
  bool Mig() {
    if (section_ != Section::kMig) return false;
    if (Contains(Here(), "No MIG devices found")) return true;
    const std::vector<std::string_view> words = Words(Here());
    const bool numbers =
        std::all_of(words.begin(), words.end(), [](std::string_view word) { return ParseInt(word).has_value(); });
    if (words.size() == 4 && numbers && at_ + 1 < cells_.size() && Contains(cells_[at_ + 1].text, "MiB")) {
      instances_[*ParseInt(words[0])].push_back("GI " + std::string(words[1]) + " CI " + std::string(words[2]) + ": " +
                                                std::string(cells_[at_ + 1].text));
      instance_lines_[*ParseInt(words[0])] = Line();
    }
    return true;
  }

  bool Process() {
    if (Contains(Here(), "No running processes found")) {
      Host("driver.processes.box", Value::Of(std::string("none")), Source::kDriver);
      box_.reset();
      return true;
    }
    const std::optional<ProcessRow> row = ParseProcess(Here());
    if (!row) {
      const bool broken =
          section_ == Section::kProcesses && box_ && box_->open && ParseInt(Words(Here()).front()).has_value();
      if (broken) AddRowGap(sink_, "nvidia-smi", text_.lines()[Line()]);
      return broken;
    }
    AddProcess(*row);
    if (box_) ++box_->rows;
    return true;
  }

  void AddProcess(const ProcessRow& row) {
    const Entity entity = Entity::ProcessOnGpu(row.pid, TextGpu(row.gpu).id);
    const TextLine& line = text_.lines()[Line()];
    AddQuoted(sink_, "process.gpu.listed", entity, Value::Of(true), Source::kDriver, line);
    AddQuoted(sink_, "process.gpu.type", entity, Value::Of(row.type), Source::kDriver, line);
    AddQuoted(sink_, "process.name", entity, Value::Of(row.name), Source::kDriver, line);
    if (!row.instance.empty())
      AddQuoted(sink_, "process.gpu.instance", entity, Value::Of(row.instance), Source::kDriver, line);
    const std::optional<double> memory = NumberWithUnit(row.memory, "MiB");
    AddQuoted(sink_, "process.gpu.memory.bytes", entity,
              memory ? Value::Of(static_cast<int64_t>(*memory * kMebibyte))
                     : Value::Missing(State::kUnsupported, std::string(row.memory)),
              Source::kDriver, line);
    if (memory) sink_.Add(Sample{"process.gpu.memory.bytes", entity, 0, *memory * kMebibyte});
    AddQuoted(sink_, "driver.processes.box", Entity::Host(), Value::Of(std::string("listed")), Source::kDriver, line);
    if (row.name.size() > 2 && row.name[1] == ':' && row.name[2] == '\\')
      AddQuoted(sink_, "host.os.name", Entity::Host(), Value::Of(std::string("windows")), Source::kOs, line);
  }

  // Only a box that was seen to its end is empty; a text that was cut there says nothing.
  void CloseBox() {
    if (box_ && box_->closed && box_->rows == 0)
      AddQuoted(sink_, "driver.processes.box", Entity::Host(), Value::Of(std::string("empty")), Source::kDriver,
                text_.lines()[box_->line]);
    box_.reset();
    if (section_ == Section::kProcesses) section_ = Section::kNone;
  }

  void AddInstances() {
    if (!mig_seen_) return;
    for (const auto& [gpu, list] : instances_)
      writer_.Put(gpu, "gpu.mig.instances", Value::Of(list), Source::kDevice, instance_lines_[gpu]);
    for (const auto& [gpu, line] : mig_lines_) {  // switched on, and the table of instances does not name it
      if (instances_.count(gpu) == 0)
        writer_.Put(gpu, "gpu.mig.instances", Value::Of(StringList{}), Source::kDevice, line);
    }
  }

  struct Box {
    size_t line = 0;
    int rows = 0;
    bool open = false, closed = false;
  };

  PastedText& text_;
  EvidenceSink& sink_;
  GpuWriter writer_;
  std::vector<Cell> cells_;
  size_t at_ = 0;
  Section section_ = Section::kNone;
  long long gpu_ = -1;
  std::string bus_;
  std::optional<Box> box_;
  bool mig_seen_ = false;
  std::map<long long, StringList> instances_;
  std::map<long long, size_t> instance_lines_, mig_lines_;
};

}  // namespace

void ReadTables(PastedText& text, EvidenceSink& sink) { Walker(text, sink).Walk(); }

}  // namespace gpuwhy::nvidia_smi
