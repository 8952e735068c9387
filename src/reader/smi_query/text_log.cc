// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"
#include "reader/smi_query/logs.h"
#include "reader/smi_query/query_writer.h"
#include "reader/words.h"

namespace gpuwhy::smi_query {
namespace {

// "GPU 00000000:02:01.0" or "GPU 0000:02:00.0": the bus id, "" for other lines.
std::string_view BusIdOf(std::string_view line) {
  if (!StartsWith(line, "GPU ")) return {};
  const std::string_view id = Trim(line.substr(4));
  const bool shape = (id.size() == 12 || id.size() == 16) && id[id.size() - 2] == '.' && id[id.size() - 5] == ':' &&
                     id[id.size() - 8] == ':' && id.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
  return shape ? id : std::string_view();
}

// "HW Thermal Slowdown" -> "hw_thermal_slowdown"
std::string Snake(std::string_view label) {
  std::string name = Lower(label);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

class TextLog {
 public:
  TextLog(PastedText& text, EvidenceSink& sink) : text_(text), writer_(text, sink) {}

  void Read() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const std::string_view line = Trim(text_[at_]);
      if (line.empty() || std::string_view("=GADCT").find(line[0]) == std::string_view::npos) {
        if (!open_ || line.empty()) continue;
      }
      Line(line);
    }
    CloseProcess();
    writer_.End();
  }

 private:
  void Line(std::string_view line) {
    if (const std::string_view bus_id = BusIdOf(line); !bus_id.empty()) return Begin(bus_id);
    const Labelled row = SplitLabel(line);
    if (Contains(line, "NVSMI LOG") || StartsWith(line, "Attached GPUs")) {
      open_ = true;
      text_.Claim(at_);
    } else if (row.label == "Driver Version" || row.label == "CUDA Version") {
      if (!open_ && !Ahead()) return;
      writer_.Driver(row.label, row.value, at_);
      text_.Claim(at_);
    } else if (open_ && Over(line)) {
      open_ = false;
      CloseProcess();
    } else if (open_ && !row.label.empty()) {
      text_.Claim(at_);
      if (writer_.in_gpu()) Row(row.label, row.value);
    } else if (open_ && line.find(':') == std::string_view::npos) {
      Section(line);
    }
  }

  // A line that a person or a shell wrote.
  static bool Over(std::string_view line) {
    return StartsWith(line, "$ ") || StartsWith(line, ">>>") || StartsWith(line, "+--") ||
           Contains(line, "# nvidia-smi");
  }

  // A log that lost its first line.
  bool Ahead() const {
    for (size_t i = at_ + 1; i < std::min(at_ + 4, text_.size()); ++i) {
      if (StartsWith(Trim(text_[i]), "Attached GPUs")) return true;
    }
    return false;
  }

  void Begin(std::string_view bus_id) {
    CloseProcess();
    open_ = true;
    section_ = "";
    mig_ = volatile_ = false;
    writer_.BeginGpu(bus_id, at_);
    text_.Claim(at_);
  }

  void Section(std::string_view line) {
    CloseProcess();
    section_ = line;
    if (line == "MIG Device") mig_ = true;
    if (line == "Volatile" || line == "Aggregate") volatile_ = line == "Volatile";
    // Sections are indented, prose rarely is.
    if (!text_[at_].empty() && (text_[at_][0] == ' ' || text_[at_][0] == '\t')) text_.Claim(at_);
  }

  void Row(std::string_view label, std::string_view value) {
    if (label == "Accounting Mode" || label == "GPU UUID") {  // what follows the instances is of the whole GPU
      writer_.MigInstancesEnd();
      mig_ = false;
    }
    if (mig_) return Instance(label, value);
    if (StartsWith(section_, "Clocks") && Contains(section_, "Reasons") && !Contains(section_, "Counters"))
      return writer_.Reason(Snake(label), value, at_);
    const bool errors = (section_ == "Volatile" && Contains(label, "Uncorrectable")) ||
                        (volatile_ && section_ == "Double Bit" && label == "Total");
    if (errors) return writer_.EccErrors(value, at_);
    if (label == "Processes" || label == "Compute Processes") {
      CloseProcess();
      if (value == "None") writer_.NoProcesses(at_);
    } else if (section_ == "Processes" || section_ == "Compute Processes") {
      ProcessRow(label, value);
    } else {
      writer_.TextField(section_, label, value, at_);
    }
  }

  // The readings of an instance are not those of its GPU.
  void Instance(std::string_view label, std::string_view value) {
    if (label == "GPU Instance ID") instance_ = value;
    if (label == "Compute Instance ID") writer_.MigInstance(instance_, value, at_);
  }

  void ProcessRow(std::string_view label, std::string_view value) {
    if (label == "GPU instance ID") {
      CloseProcess();
      process_.gpu_instance = value;
    } else if (label == "Compute instance ID") {
      process_.compute_instance = value;
    } else if (label == "Process ID") {
      if (process_.pid > 0) CloseProcess();
      process_.pid = ParseInt(value).value_or(0);
      process_line_ = at_;
    } else if (label == "Type") {
      process_.type = value;
    } else if (label == "Name") {
      process_.name = value;
    } else if (label == "Used GPU Memory") {
      process_.memory = value;
    }
  }

  void CloseProcess() {
    if (process_.pid > 0) writer_.AddProcess(process_, process_line_);
    process_ = {};
  }

  PastedText& text_;
  QueryWriter writer_;
  size_t at_ = 0;
  bool open_ = false;  // inside a log
  bool mig_ = false, volatile_ = false;
  std::string_view section_, instance_;
  Process process_;
  size_t process_line_ = 0;
};

}  // namespace

void ReadTextLog(PastedText& text, EvidenceSink& sink) { TextLog(text, sink).Read(); }

}  // namespace gpuwhy::smi_query
