// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reader/reader.h"

// What people type of Task Manager and of the monitors that they compare it with. Task Manager draws engines;
// HWMonitor, GPU-Z, Afterburner, HWiNFO and nvidia-smi show the driver's duty cycle, which is the reading of the
// device.
namespace gpuwhy {
namespace {

enum class Tool { kNone, kTaskManager, kMonitor };

using Word = std::pair<std::string_view, std::string_view>;

constexpr std::array<std::pair<std::string_view, Tool>, 12> kTools = {{
    {"task manager", Tool::kTaskManager},
    {"taskmgr", Tool::kTaskManager},
    {"任务管理器", Tool::kTaskManager},
    {"工作管理員", Tool::kTaskManager},
    {"hwmonitor", Tool::kMonitor},
    {"gpu-z", Tool::kMonitor},
    {"gpuz", Tool::kMonitor},
    {"afterburner", Tool::kMonitor},
    {"hwinfo", Tool::kMonitor},
    {"open hardware monitor", Tool::kMonitor},
    {"librehardwaremonitor", Tool::kMonitor},
    {"nvidia-smi", Tool::kMonitor},
}};

// What a share can be of. "" is no engine: shares of memory, fans and the CPU stand beside those of the GPU. "gpu" is
// the share of the whole, of which Task Manager shows its first graph.
constexpr std::array<Word, 35> kSubjects = {{
    {"compute_", "compute"},
    {"cuda", "cuda"},
    {"3d", "3d"},
    {"copy", "copy"},
    {"复制", "copy"},
    {"video encode", "video_encode"},
    {"视频编码", "video_encode"},
    {"video decode", "video_decode"},
    {"视频解码", "video_decode"},
    {"gpu", "gpu"},
    {"显卡", "gpu"},
    {"memory", ""},
    {"vram", ""},
    {"显存", ""},
    {"内存", ""},
    {"cpu", ""},
    {"处理器", ""},
    {"fan", ""},
    {"风扇", ""},
    {"disk", ""},
    {"磁盘", ""},
    {"power", ""},
    {"tdp", ""},
    {"功耗", ""},
    {"bus", ""},
    {"video engine", ""},
    {"battery", ""},
    {"epoch", ""},
    {"accuracy", ""},
    {"progress", ""},
    {"ram ", ""},
    {"temp", ""},
    {"温度", ""},
    {"network", ""},
    {"loss", ""},
}};

constexpr std::string_view kWidePercent = "\xEF\xBC\x85";
constexpr size_t kHeadingRows = 6;
constexpr size_t kShort = 60;

bool Digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool Letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// A share and what stands around it up to the shares before and behind.
struct Share {
  double ratio = 0;
  std::string_view before, behind;
};

size_t FindPercent(std::string_view text, size_t from, size_t& size) {
  const size_t narrow = text.find('%', from), wide = text.find(kWidePercent, from);
  size = wide < narrow ? kWidePercent.size() : 1;
  return std::min(narrow, wide);
}

std::vector<Share> Shares(std::string_view line) {
  std::vector<Share> shares;
  size_t from = 0, size = 0;
  for (size_t sign = FindPercent(line, 0, size); sign != std::string_view::npos;) {
    size_t end = sign;
    while (end > from && line[end - 1] == ' ') --end;
    size_t begin = end;
    while (begin > from && (Digit(line[begin - 1]) || line[begin - 1] == '.')) --begin;
    const size_t next_from = sign + size;
    const size_t next = FindPercent(line, next_from, size);
    const std::optional<double> percent = ParseDouble(line.substr(begin, end - begin));
    if (percent && *percent >= 0 && *percent <= 100)
      shares.push_back({*percent / 100, line.substr(from, begin - from),
                        line.substr(next_from, next == std::string_view::npos ? next : next - next_from)});
    from = next_from;
    sign = next;
  }
  return shares;
}

bool IsWord(std::string_view text, size_t at, std::string_view word) {
  const bool begins = at == 0 || !Letter(text[at - 1]) || !Letter(word[0]);
  return begins && (word.back() == '_' || at + word.size() >= text.size() || !Letter(word.back()) ||
                    !Letter(text[at + word.size()]));
}

// The last of the words in the text, or the first.
template <typename Table>
const typename Table::value_type* Named(const Table& table, std::string_view text, bool last) {
  const typename Table::value_type* found = nullptr;
  size_t place = 0;
  for (const auto& row : table) {
    size_t at = last ? text.rfind(row.first) : text.find(row.first);
    while (at != std::string_view::npos && !IsWord(text, at, row.first)) {
      if (last && at == 0)
        at = std::string_view::npos;
      else
        at = last ? text.rfind(row.first, at - 1) : text.find(row.first, at + 1);
    }
    if (at == std::string_view::npos || (found != nullptr && (last ? at <= place : at >= place))) continue;
    found = &row;
    place = at;
  }
  return found;
}

// Commands and table rows name nvidia-smi too, and are read elsewhere.
bool Foreign(std::string_view lower) {
  return Contains(lower, "nvidia-smi --") || Contains(lower, "|") || Contains(lower, "│");
}

// Index behind "gpu", where one is written.
std::optional<long long> GpuIndex(std::string_view text) {
  for (size_t at = text.rfind("gpu"); at != std::string_view::npos;
       at = at > 0 ? text.rfind("gpu", at - 1) : text.npos) {
    size_t digit = at + 3;
    while (digit < text.size() && (text[digit] == ' ' || text[digit] == '#')) ++digit;
    if (digit < text.size() && Digit(text[digit]) && (digit + 1 >= text.size() || !Digit(text[digit + 1])))
      return text[digit] - '0';
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  // One of these stands in the name of every tool and of every GPU.
  static bool MayName(std::string_view lower) {
    for (const char* part : {"gpu", "task", "管", "monitor", "burner", "hwinfo", "nvidia"}) {
      if (Contains(lower, part)) return true;
    }
    return false;
  }

  // A per cent sign behind a number, with a blank between them or none.
  static bool HasPercentage(std::string_view line) {
    for (size_t at = line.find('%'); at != std::string_view::npos; at = line.find('%', at + 1)) {
      const size_t digit = at >= 2 && line[at - 1] == ' ' ? at - 2 : at - 1;
      if (at > 0 && Digit(line[digit])) return true;
    }
    return false;
  }

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const bool share = HasPercentage(text_[i]) || Contains(text_[i], kWidePercent);
      if (!share && text_[i].size() >= kShort) continue;
      const std::string lower = Lower(text_[i]);
      if (i >= until_ && !MayName(lower)) continue;
      if (share)
        Line(lower, i);
      else
        Heading(lower, i);
    }
  }

 private:
  // The name of a tool alone, or of a GPU below it: the readings follow.
  void Heading(std::string_view lower, size_t i) {
    const auto* tool = Named(kTools, lower, true);
    if (tool != nullptr && tool->first != "nvidia-smi") {
      heading_ = tool->second;
      until_ = i + kHeadingRows;
      gpu_ = 0;
    }
    if (i < until_ && StartsWithGpu(Trim(lower))) gpu_ = GpuIndex(lower).value_or(0);
  }
  static bool StartsWithGpu(std::string_view text) { return text.substr(0, 3) == "gpu"; }

  // "GPU 0 (3D): 18 %" is how Task Manager alone writes it.
  static bool ItsOwnWords(std::string_view before) {
    const size_t bracket = before.rfind('(');
    if (!StartsWithGpu(Trim(before)) || bracket == std::string_view::npos) return false;
    const auto* engine = Named(kSubjects, before.substr(bracket), false);
    return engine != nullptr && !engine->second.empty() && engine->second != "gpu";
  }

  void Line(std::string_view lower, size_t i) {
    if (Foreign(lower)) return;
    const bool named = Named(kTools, lower, false) != nullptr;
    const std::vector<Share> shares = Shares(lower);
    if (shares.empty()) return;
    if (!named && (i >= until_ || lower.size() >= kShort) && !ItsOwnWords(shares.front().before)) return;
    Tool tool = named ? Tool::kNone : i < until_ ? heading_ : Tool::kTaskManager;
    std::string_view subject;
    long long gpu = gpu_;
    for (const Share& share : shares) {
      if (const auto written = GpuIndex(share.before)) gpu = *written;
      if (const auto* before = Named(kTools, share.before, true)) tool = before->second;
      if (tool == Tool::kNone) {
        const auto* behind = Named(kTools, share.behind, false);
        if (behind != nullptr) tool = behind->second;
      }
      if (const auto* before = Named(kSubjects, WithoutTools(share.before), true)) {
        subject = before->second;
      } else if (const auto* behind = Named(kSubjects, FirstClause(share.behind), false); subject.empty()) {
        subject = behind != nullptr ? behind->second : Contains(lower, "nvidia-smi") ? "gpu" : "";
      }
      if (!subject.empty()) Put(tool, subject, gpu, share.ratio, i);
    }
  }

  // "GPU-Z" is no GPU, and "HWMonitor" no monitor of anything.
  static std::string WithoutTools(std::string_view text) {
    std::string out(text);
    for (const auto& [name, tool] : kTools) {
      for (size_t at = out.find(name); at != std::string::npos; at = out.find(name, at))
        out.replace(at, name.size(), " ");
    }
    return out;
  }
  static std::string_view FirstClause(std::string_view text) {
    return text.substr(0, std::min(text.find_first_of(",;."), text.find("，")));
  }

  void Put(Tool tool, std::string_view subject, long long index, double ratio, size_t i) {
    const TextLine& line = text_.lines()[i];
    if (tool == Tool::kMonitor) {
      if (subject != "gpu") return;
      AddQuoted(sink_, "gpu.utilization.ratio", TextGpu(index), Value::Of(ratio), Source::kDevice, line);
      sink_.Add(Sample{"gpu.utilization.ratio", TextGpu(index), static_cast<double>(readings_[index]++), ratio});
    } else if (tool == Tool::kTaskManager) {
      // The graph that is shown first when none is named. Of several Compute_n the busiest tells.
      const std::string engine(subject == "gpu" ? "3d" : subject);
      double& best = compute_[index];
      if (engine == "compute" && ratio < best) return text_.Claim(i);
      if (engine == "compute") best = ratio;
      AddQuoted(sink_, "gpu.engine." + engine + ".ratio", TextGpu(index), Value::Of(ratio), Source::kOs, line);
      AddQuoted(sink_, "host.os.name", Entity::Host(), Value::Of(std::string("windows")), Source::kOs, line);
    } else {
      return;
    }
    text_.Claim(i);
  }

  PastedText& text_;
  EvidenceSink& sink_;
  Tool heading_ = Tool::kNone;
  size_t until_ = 0;
  long long gpu_ = 0;  // that the heading names
  std::map<long long, int> readings_;
  std::map<long long, double> compute_;
};

void Read(PastedText& text, EvidenceSink& sink) { Reader(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_task_manager;
constinit const ReaderInfo kReader_task_manager{.name = "task_manager", .read = &Read};

}  // namespace gpuwhy
