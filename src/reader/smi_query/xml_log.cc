// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/smi_query/logs.h"
#include "reader/smi_query/query_writer.h"
#include "reader/words.h"

namespace gpuwhy::smi_query {
namespace {

constexpr size_t kDeepest = 32;  // a query has six levels

class XmlLog {
 public:
  XmlLog(PastedText& text, EvidenceSink& sink) : text_(text), writer_(text, sink) {}

  void Read() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const std::string_view line = text_[at_];
      const size_t tag = line.find('<');
      if (!open_ && tag != std::string_view::npos)
        open_ = Contains(line, "<nvidia_smi_log>") || Contains(line, "<gpu id=");
      if (!open_) continue;
      Line(line);
      if (tag != std::string_view::npos) text_.Claim(at_);
    }
    writer_.End();
  }

 private:
  void Line(std::string_view line) {
    while (!line.empty()) {
      const size_t begin = line.find('<');
      value_ += std::string(Trim(line.substr(0, begin)));
      const size_t end = begin == std::string_view::npos ? begin : line.find('>', begin);
      if (end == std::string_view::npos) return;
      const std::string_view tag = line.substr(begin + 1, end - begin - 1);
      line.remove_prefix(end + 1);
      if (tag.empty() || tag[0] == '?' || tag[0] == '!') continue;
      if (tag[0] == '/')
        Close(tag.substr(1));
      else
        Open(tag);
    }
  }

  void Open(std::string_view tag) {
    const bool alone = tag.back() == '/';
    const std::string_view name = tag.substr(0, std::min(tag.find_first_of(" \t/"), tag.size()));
    if (name == "gpu") Begin(tag);
    if (name == "process_info") process_ = {};
    if (name == "processes") processes_ = 0;
    value_.clear();
    if (!alone && path_.size() < kDeepest) path_.emplace_back(name);
  }

  void Begin(std::string_view tag) {
    path_.clear();  // whatever a cut left open
    const size_t id = tag.find("id=");
    std::string_view bus_id = id == std::string_view::npos ? std::string_view() : tag.substr(id + 3);
    const size_t size = bus_id.find_last_of("0123456789abcdefABCDEF");
    bus_id = bus_id.substr(0, size == std::string_view::npos ? 0 : size + 1);
    while (!bus_id.empty() && (bus_id[0] == '"' || bus_id[0] == '\\' || bus_id[0] == '\'')) bus_id.remove_prefix(1);
    writer_.BeginGpu(bus_id, at_);
  }

  // A closing tag that fits none of the open ones stands in a text that was cut.
  void Close(std::string_view tag) {
    const auto place = std::find(path_.rbegin(), path_.rend(), tag);
    if (place == path_.rend()) return value_.clear();
    path_.erase(place.base() - 1, path_.end());
    const std::string parent = path_.empty() ? "" : path_.back();
    if (tag == "nvidia_smi_log") open_ = false;
    if (tag == "driver_version") writer_.Driver("Driver Version", value_, at_);
    if (tag == "cuda_version") writer_.Driver("CUDA Version", value_, at_);
    if (writer_.in_gpu()) Element(parent, tag);
    value_.clear();
  }

  bool Inside(std::string_view tag) const { return std::find(path_.begin(), path_.end(), tag) != path_.end(); }

  void Element(std::string_view parent, std::string_view tag) {
    if (tag == "mig_devices") return writer_.MigInstancesEnd();
    if (Inside("mig_devices")) return Instance(tag);
    if (Inside("process_info")) return ProcessRow(tag);
    if (tag == "process_info" && process_.pid > 0) {
      ++processes_;
      writer_.AddProcess(process_, at_);
    } else if (tag == "processes") {
      if (processes_ == 0) writer_.NoProcesses(at_);
    } else if (parent == "volatile" ? Contains(tag, "uncorrectable")
                                    : parent == "double_bit" && tag == "total" && Inside("volatile")) {
      writer_.EccErrors(value_, at_);
    } else if (parent == "clocks_event_reasons" || parent == "clocks_throttle_reasons") {
      const size_t name = tag.find("_reason_");
      if (name != std::string_view::npos) writer_.Reason(tag.substr(name + 8), value_, at_);
    } else {
      writer_.XmlField(parent, tag, value_, at_);
    }
  }

  void Instance(std::string_view tag) {
    if (tag == "gpu_instance_id") instance_ = value_;
    if (tag == "compute_instance_id") compute_ = value_;
    if (tag != "mig_device") return;
    writer_.MigInstance(instance_, compute_, at_);
    instance_ = compute_ = "";
  }

  void ProcessRow(std::string_view tag) {
    if (tag == "pid") process_.pid = ParseInt(value_).value_or(0);
    if (tag == "type") process_.type = value_;
    if (tag == "process_name") process_.name = value_;
    if (tag == "used_memory") process_.memory = value_;
    if (tag == "gpu_instance_id") process_.gpu_instance = value_;
    if (tag == "compute_instance_id") process_.compute_instance = value_;
  }

  PastedText& text_;
  QueryWriter writer_;
  size_t at_ = 0;
  bool open_ = false;
  std::vector<std::string> path_;
  std::string value_, instance_, compute_;
  Process process_;
  int processes_ = 0;
};

}  // namespace

void ReadXmlLog(PastedText& text, EvidenceSink& sink) { XmlLog(text, sink).Read(); }

}  // namespace gpuwhy::smi_query
