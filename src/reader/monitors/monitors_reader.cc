// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/reader.h"

// Monitors that people run instead of nvidia-smi: gpustat, tegrastats (Jetson) and rocm-smi (AMD).
namespace gpuwhy {
namespace {

constexpr double kMebibyte = 1048576;

bool Digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The number that ends at `end` (exclusive), blanks before it skipped.
std::optional<double> NumberBefore(std::string_view text, size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  size_t begin = end;
  while (begin > 0 && (Digit(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  return ParseDouble(text.substr(begin, end - begin));
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(text, ' ')) {
    if (!Trim(word).empty()) words.push_back(Trim(word));
  }
  return words;
}

class Reader {
 public:
  Reader(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const std::string& line = text_[i];
      if (line.find('%') == std::string::npos) continue;
      if (Gpustat(line, i) || Tegrastats(line, i) || RocmSmi(line, i)) text_.Claim(i);
    }
  }

 private:
  void Duty(long long gpu, double percent, size_t i) {
    AddQuoted(sink_, "gpu.utilization.ratio", TextGpu(gpu), Value::Of(percent / 100), Source::kDevice, text_.lines()[i],
              "GR3D_FREQ ");
    sink_.Add(Sample{"gpu.utilization.ratio", TextGpu(gpu), static_cast<double>(seen_[gpu]++), percent / 100});
  }

  void Put(const char* name, long long gpu, Value value, size_t i) {
    AddQuoted(sink_, name, TextGpu(gpu), std::move(value), Source::kDevice, text_.lines()[i]);
  }

  // "[0] NVIDIA RTX A6000 | 79'C,  98 % | 40211 / 49140 MB | user(40200M)"
  bool Gpustat(const std::string& line, size_t i) {
    const std::string_view bare = Trim(line);
    const size_t close = bare.find(']'), bar = bare.find('|');
    if (bare.empty() || bare[0] != '[' || close > 5 || bar == std::string_view::npos || bar < close) return false;
    const std::optional<long long> gpu = ParseInt(bare.substr(1, close - 1));
    const size_t percent = bare.find('%');
    const std::optional<double> duty = percent == std::string_view::npos ? std::nullopt : NumberBefore(bare, percent);
    if (!gpu || !duty || bare.find("'C") == std::string_view::npos) return false;
    Put("gpu.index", *gpu, Value::Of(static_cast<int64_t>(*gpu)), i);
    Put("gpu.name", *gpu, Value::Of(std::string(Trim(bare.substr(close + 1, bar - close - 1)))), i);
    Duty(*gpu, *duty, i);
    const size_t slash = bare.find(" / ", percent), unit = bare.find("MB", percent);
    if (slash == std::string_view::npos || unit == std::string_view::npos) return true;
    const std::optional<double> used = NumberBefore(bare, slash), total = NumberBefore(bare, unit);
    if (used) Put("gpu.memory.used.bytes", *gpu, Value::Of(static_cast<int64_t>(*used * kMebibyte)), i);
    if (used)
      sink_.Add(
          Sample{"gpu.memory.used.bytes", TextGpu(*gpu), static_cast<double>(seen_[*gpu] - 1), *used * kMebibyte});
    if (total) Put("gpu.memory.total.bytes", *gpu, Value::Of(static_cast<int64_t>(*total * kMebibyte)), i);
    return true;
  }

  // "... GR3D_FREQ 97%@[624] ..."
  bool Tegrastats(const std::string& line, size_t i) {
    const size_t place = line.find("GR3D_FREQ ");
    if (place == std::string::npos || line.find("RAM ") == std::string::npos) return false;
    const size_t percent = line.find('%', place);
    const std::optional<double> duty = percent == std::string::npos ? std::nullopt : NumberBefore(line, percent);
    if (duty) Duty(0, *duty, i);
    return duty.has_value();
  }

  // The concise table: a header with GPU%, then a row of as many words a GPU ("Perf" and the like hold no blanks).
  bool RocmSmi(const std::string& line, size_t i) {
    const std::vector<std::string_view> words = Words(line);
    if (words.size() > 4 && (words[0] == "GPU" || words[0] == "Device") && words.back() == "GPU%") {
      rocm_ = true;
      return true;
    }
    if (!rocm_ || words.size() < 6) return false;
    const std::optional<long long> gpu = ParseInt(words[0]);
    const std::optional<double> duty =
        words.back().back() == '%' ? NumberBefore(words.back(), words.back().size() - 1) : std::nullopt;
    if (!gpu || !duty) return false;
    Duty(*gpu, *duty, i);
    for (const std::string_view word : words) {
      const std::optional<double> watts = word.back() == 'W' ? NumberBefore(word, word.size() - 1) : std::nullopt;
      if (!watts) continue;
      Put("gpu.power.watts", *gpu, Value::Of(*watts), i);
      break;
    }
    return true;
  }

  PastedText& text_;
  EvidenceSink& sink_;
  std::map<long long, int> seen_;
  bool rocm_ = false;
};

void Read(PastedText& text, EvidenceSink& sink) { Reader(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_monitors;
constinit const ReaderInfo kReader_monitors{.name = "monitors", .read = &Read};

}  // namespace gpuwhy
