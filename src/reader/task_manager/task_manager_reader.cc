// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reader/reader.h"

// What people type of Task Manager and of the monitors that they compare it with. Task Manager draws engines;
// HWMonitor, GPU-Z, Afterburner and HWiNFO show the driver's duty cycle, which is the reading of the device.
namespace gpuwhy {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kEngines = {{
    {"compute_0", "compute"},
    {"compute_1", "compute"},
    {"cuda", "cuda"},
    {"3d", "3d"},
    {"copy", "copy"},
    {"video encode", "video_encode"},
    {"视频编码", "video_encode"},
    {"video decode", "video_decode"},
    {"视频解码", "video_decode"},
    {"复制", "copy"},
}};

bool Digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The number before the last per cent sign of the line, as a ratio.
std::optional<double> Share(std::string_view line) {
  size_t sign = line.rfind('%');
  if (sign == std::string_view::npos) sign = line.rfind("\xEF\xBC\x85");  // full width
  if (sign == std::string_view::npos) return std::nullopt;
  size_t end = sign;
  while (end > 0 && line[end - 1] == ' ') --end;
  size_t begin = end;
  while (begin > 0 && (Digit(line[begin - 1]) || line[begin - 1] == '.')) --begin;
  const std::optional<double> percent = ParseDouble(line.substr(begin, end - begin));
  return percent && *percent >= 0 && *percent <= 100 ? std::optional<double>(*percent / 100) : std::nullopt;
}

bool Names(std::string_view lower, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (Contains(lower, word)) return true;
  }
  return false;
}

bool IsTaskManager(std::string_view lower) { return Names(lower, {"task manager", "taskmgr", "任务管理器"}); }

// What a person says of nvidia-smi in one line; its tables never name it beside a share.
bool QuotesSmi(std::string_view lower) {
  return Contains(lower, "nvidia-smi") && !Names(lower, {"memory", "显存", "vram", "fan", "--"});
}

bool IsMonitor(std::string_view lower) {
  if (QuotesSmi(lower)) return true;
  return Names(lower, {"hwmonitor", "gpu-z", "gpuz", "afterburner", "hwinfo", "open hardware monitor"});
}

// Index behind "GPU ", 0 where none is written.
long long GpuIndex(std::string_view lower) {
  for (size_t at = lower.find("gpu"); at != std::string_view::npos; at = lower.find("gpu", at + 3)) {
    size_t digit = at + 3;
    while (digit < lower.size() && (lower[digit] == ' ' || lower[digit] == '#')) ++digit;
    const bool alone =
        digit < lower.size() && Digit(lower[digit]) && (digit + 1 >= lower.size() || !Digit(lower[digit + 1]));
    if (alone) return lower[digit] - '0';
  }
  return 0;
}

class Reader {
 public:
  Reader(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      if (text_[i].find('%') == std::string::npos && text_[i].find("\xEF\xBC\x85") == std::string::npos) {
        // A heading alone: the readings follow.
        if (text_[i].size() < 60 && IsTaskManager(Lower(text_[i]))) under_heading_ = i + 6;
        continue;
      }
      Line(i);
    }
  }

 private:
  void Line(size_t i) {
    const std::string lower = Lower(text_[i]);
    const std::optional<double> share = Share(lower);
    if (!share) return;
    const TextLine& line = text_.lines()[i];
    if (IsMonitor(lower) && Names(lower, {"util", "load", "usage", "gpu"})) {
      AddQuoted(sink_, "gpu.utilization.ratio", TextGpu(0), Value::Of(*share), Source::kDevice, line);
      sink_.Add(Sample{"gpu.utilization.ratio", TextGpu(0), static_cast<double>(readings_++), *share});
      text_.Claim(i);
      return;
    }
    if (!IsTaskManager(lower) && i >= under_heading_) return;
    if (!Names(lower, {"gpu", "3d", "cuda", "compute_", "copy", "video", "复制", "视频"})) return;
    std::string engine = "3d";  // the graph that is shown first when none is named
    for (const auto& [word, name] : kEngines) {
      if (!Contains(lower, word)) continue;
      engine = name;
      break;
    }
    AddQuoted(sink_, "gpu.engine." + engine + ".ratio", TextGpu(GpuIndex(lower)), Value::Of(*share), Source::kOs, line);
    AddQuoted(sink_, "host.os.name", Entity::Host(), Value::Of(std::string("windows")), Source::kOs, line);
    text_.Claim(i);
  }

  PastedText& text_;
  EvidenceSink& sink_;
  size_t under_heading_ = 0;
  int readings_ = 0;
};

void Read(PastedText& text, EvidenceSink& sink) { Reader(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_task_manager;
constinit const ReaderInfo kReader_task_manager{.name = "task_manager", .read = &Read};

}  // namespace gpuwhy
