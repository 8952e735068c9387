// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/nvidia_smi/table.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "reader/nvidia_smi/cells.h"
#include "reader/nvidia_smi/gpu_row.h"
#include "reader/nvidia_smi/mig.h"
#include "reader/nvidia_smi/processes.h"
#include "reader/nvidia_smi/title.h"
#include "reader/words.h"

namespace gpuwhy::nvidia_smi {
namespace {

// Boxes with an empty line between them and one after every line still hold together; what stands further apart is
// another text.
constexpr size_t kApart = 6;

enum class Section { kNone, kGpus, kMig, kProcesses };

// First words of the header rows of all layouts, of the GPUs, of MIG devices and of processes.
bool IsHeading(std::string_view cell) {
  const std::vector<std::string_view> words = Words(cell);
  const std::string_view first = words[0];
  for (const std::string_view word : {"Fan", "Bus-Id", "Memory-Usage", "Volatile", "GPU-Util", "MIG", "ID", "Vol",
                                      "Shared", "SM", "CE", "ECC", "BAR1-Usage"}) {
    if (first == word) return true;
  }
  return first == "GPU" && words.size() > 1 && (words[1] == "Name" || words[1] == "GI" || words[1] == "PID");
}

class Walker {
 public:
  Walker(PastedText& text, EvidenceSink& sink, GpuReadings& readings, GpuNames& names)
      : text_(text),
        sink_(sink),
        readings_(readings),
        names_(names),
        mig_(readings),
        box_(text, sink, readings),
        cells_(FindCells(text)) {}

  void Walk() {
    for (at_ = 0; at_ < cells_.size(); ++at_) {
      if (at_ > 0 && Line() > cells_[at_ - 1].line + kApart) Leave(false);
      if (cells_[at_].border)
        Border();
      else if (Heads() || Gpu() || Mig() || Process())
        text_.Claim(Line());
    }
    Leave(false);
  }

 private:
  std::string_view Here() const { return cells_[at_].text; }
  size_t Line() const { return cells_[at_].line; }
  std::string_view Ahead(size_t count) const {
    return at_ + count < cells_.size() ? cells_[at_ + count].text : std::string_view();
  }
  void Host(const char* name, Value value, Source source) {
    AddQuoted(sink_, name, Entity::Host(), std::move(value), source, text_.lines()[Line()]);
  }

  // The table is over; `whole` when the next one shows that it was not cut off.
  void Leave(bool whole) {
    mig_.Close(whole);
    box_.End();
    section_ = Section::kNone;
    EndGpu();
  }
  void EndGpu() {
    gpu_ = -1;
    sensors_ = false;
    counted_.reset();
  }

  bool Heads() {
    if (IsForeign(Here())) {
      Leave(false);
      foreign_ = true;
    }
    if (TitleBox()) return true;
    if (foreign_) return false;
    return Heading();
  }

  // The rule above a box belongs to it.
  void ClaimTop() {
    if (at_ > 0 && cells_[at_ - 1].border) text_.Claim(cells_[at_ - 1].line);
  }

  bool TitleBox() {
    const std::optional<Title> title = ParseTitle(Here(), cells_[at_].closed);
    if (!title) return false;
    if (title->program) Host("driver.nvidia_smi.version", Value::Of(*title->program), Source::kDriver);
    if (title->driver) Host("driver.version", Value::Of(*title->driver), Source::kDriver);
    if (title->cuda)
      Host("driver.cuda_version", ParseVersion(*title->cuda) ? Value::Of(*title->cuda) : Absent(*title->cuda),
           Source::kDriver);
    if (!title->begins_table) return true;
    ClaimTop();
    Leave(true);
    foreign_ = false;
    titled_ = title->program.has_value();
    section_ = Section::kGpus;
    return true;
  }

  bool Heading() {
    const std::string_view cell = Here();
    if (StartsWith(cell, "MIG devices:")) {
      ClaimTop();
      EndGpu();
      mig_.Open();
      section_ = Section::kMig;
      return true;
    }
    const bool typed = StartsWith(cell, "Processes:");
    if (typed || StartsWith(cell, "Compute processes:")) {
      ClaimTop();
      Leave(true);
      box_.Begin(Line(), typed);
      section_ = Section::kProcesses;
      return true;
    }
    if (StartsWith(cell, "GPU") && Contains(cell, "PID") && Contains(cell, "USER")) {
      Leave(false);  // nvitop draws this table too, but its processes have other
                     // columns
      return false;
    }
    return section_ != Section::kNone && IsHeading(cell);
  }

  void Border() {
    if (foreign_ || section_ == Section::kNone) return;
    text_.Claim(Line());
    if (section_ == Section::kGpus) EndGpu();
    if (section_ != Section::kProcesses) return;
    box_.Border();
    if (!box_.active()) section_ = Section::kNone;
  }

  void Gap() {
    if (gap_ != Line()) AddRowGap(sink_, "nvidia-smi", text_.lines()[Line()]);
    gap_ = Line();
  }

  bool Gpu() {
    if (foreign_) return false;
    const std::string bus = BusIdOf(Ahead(1));
    const bool row = !bus.empty() || (section_ == Section::kGpus && IsNoBus(Ahead(1)));
    const std::optional<GpuHead> head = row ? ParseHead(Here()) : std::nullopt;
    // Outside of a table a row has to be whole: people write of bus ids too.
    const bool whole = head && !head->mode.empty() && Words(Ahead(1)).size() == 2;
    if (head && (section_ == Section::kGpus || whole) && !IsForeignName(head->name)) return Begin(*head, bus);
    if (!bus.empty() || (gpu_ >= 0 && sensors_ && IsSensors(Here()))) {  // of a GPU whose head cannot be read
      EndGpu();
      if (section_ == Section::kGpus) Gap();
      return section_ == Section::kGpus;
    }
    if (gpu_ < 0) return section_ != Section::kMig && section_ != Section::kProcesses && Orphan();
    if (GpuCell()) return true;
    // Monitors that draw this table add cells of their own; in nvidia-smi's there are none but these.
    if (titled_) Gap();
    return titled_;
  }

  bool Begin(const GpuHead& head, const std::string& bus) {
    EndGpu();
    section_ = Section::kGpus;
    gpu_ = head.index;
    readings_.Next(gpu_);
    readings_.Put(gpu_, "gpu.index", Value::Of(static_cast<int64_t>(gpu_)), Line());
    WriteHead(readings_, head, Line());
    readings_.Put(gpu_, "gpu.bus_id", bus.empty() ? Absent("N/A") : Value::Of(bus), Line());
    head_at_ = at_;
    names_.Learn(bus, gpu_);
    headed_ = true;
    if (head.mode == "WDDM" || head.mode == "TCC" || head.mode == "MCDM")
      Host("host.os.name", Value::Of(std::string("windows")), Source::kOs);
    return true;
  }

  // The readings of a GPU whose head was cut off with the beginning of the text: the one before the first that is
  // there.
  bool Orphan() {
    const size_t slash = FindSlash(Ahead(1));
    if (section_ == Section::kNone && slash == std::string_view::npos) return false;
    const bool row = slash != std::string_view::npos && MemoryBytes(Ahead(1).substr(slash + 1)) && IsSensors(Here());
    const std::vector<std::string_view> use = Words(Ahead(2));
    if (headed_ || !row || use.size() < 2 || ComputeMode(Ahead(2).substr(use[0].size())).empty()) {
      if (section_ == Section::kGpus && IsSensors(Here())) Gap();
      return false;
    }
    long long next = 0;
    for (size_t i = at_ + 1; i + 1 < cells_.size(); ++i) {
      if (BusIdOf(cells_[i + 1].text).empty()) continue;
      const std::optional<GpuHead> head = ParseHead(cells_[i].text);
      if (head) next = head->index;
      break;
    }
    headed_ = true;
    if (next <= 0) {  // the only GPU, or the last of several
      Gap();
      return false;
    }
    section_ = Section::kGpus;
    gpu_ = next - 1;
    readings_.Next(gpu_);
    return GpuCell();
  }

  bool GpuCell() {
    const std::string_view cell = Here();
    const bool closed = cells_[at_].closed;  // else half a word may look like a whole one
    if (head_at_ && at_ == *head_at_ + 1) return Display(cell);
    if (closed && !sensors_ && !counted_ && ReadEcc(readings_, gpu_, cell, Line())) return true;
    if (ReadSensors(readings_, gpu_, cell, Line())) return sensors_ = true;
    if (ReadMemory(readings_, gpu_, cell, Line())) return true;
    if ((closed || sensors_) && ReadUse(readings_, gpu_, cell, Line())) {
      counted_ = cell.find('%') != std::string_view::npos;
      return true;
    }
    return closed && mig_.Mode(gpu_, cell, counted_, Line());
  }

  bool Display(std::string_view cell) {
    const std::string_view state = Words(cell).back();
    if (state == "On" || state == "Off")
      readings_.Put(gpu_, "gpu.display_active", Value::Of(state == "On"), Line());
    else if (NoValue(state))
      readings_.Put(gpu_, "gpu.display_active", Absent(state), Line());
    return true;
  }

  bool Mig() {
    if (section_ != Section::kMig) return false;
    if (mig_.Row(Here(), Ahead(1), Line())) return true;
    // The other cells of its rows are memory, shares of engines and counts.
    const std::vector<std::string_view> words = Words(Here());
    return std::all_of(words.begin(), words.end(), [](std::string_view word) {
      return ParseInt(word) || NoValue(word) || word == "/" || NumberWithUnit(word, "MiB");
    });
  }

  bool Process() {
    if (foreign_ || !box_.Row(Here(), Line())) return false;
    if (section_ == Section::kProcesses && !box_.active()) section_ = Section::kNone;
    return true;
  }

  PastedText& text_;
  EvidenceSink& sink_;
  GpuReadings& readings_;
  GpuNames& names_;
  MigTable mig_;
  ProcessBox box_;
  std::vector<Cell> cells_;
  size_t at_ = 0;
  Section section_ = Section::kNone;
  bool foreign_ = false;           // inside a table of another vendor's tool
  bool titled_ = false;            // inside a table of nvidia-smi itself
  std::optional<size_t> gap_;      // the newest line of a gap: one is enough for it
  bool headed_ = false;            // a GPU with its head was seen
  std::optional<size_t> head_at_;  // the cell of the newest head
  long long gpu_ = -1;             // the GPU whose cells come, -1 between GPUs
  bool sensors_ = false;           // its second row has begun
  std::optional<bool> counted_;    // its use was there, as a number or not
};

}  // namespace

// "00000000:01:00.0" and "0000:01:00.0" are the same: the domain grew by four digits.
void GpuNames::Learn(std::string_view name, long long index) {
  if (name.empty()) return;
  const std::string lower = Lower(name);
  index_[lower.size() == 16 && lower.compare(0, 4, "0000") == 0 ? lower.substr(4) : lower] = index;
}

std::optional<long long> GpuNames::Find(std::string_view name) const {
  const std::string lower = Lower(name);
  const auto place = index_.find(lower.size() == 16 && lower.compare(0, 4, "0000") == 0 ? lower.substr(4) : lower);
  return place == index_.end() ? std::nullopt : std::optional<long long>(place->second);
}

void ReadTables(PastedText& text, EvidenceSink& sink, GpuReadings& readings, GpuNames& names) {
  Walker(text, sink, readings, names).Walk();
}

}  // namespace gpuwhy::nvidia_smi
