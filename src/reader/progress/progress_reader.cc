// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "reader/progress/timings.h"
#include "reader/reader.h"

// Progress lines and profiler tables: how long a step takes and how much of it is waiting for data.
namespace gpuwhy {
namespace {

// What one pass over a line finds: enough to leave nearly every line of a log at once.
struct Hints {
  bool figures = false;
  bool data = false;  // "data", "load" or "input", in small or capital letters
  bool loss = false;
  bool fraction = false;  // "11/79", "it/s"
};

constexpr std::array<bool, 256> Interesting() {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("0123456789/aAon")) table[static_cast<unsigned char>(c)] = true;
  return table;
}

Hints Look(std::string_view line) {
  static constexpr std::array<bool, 256> kInteresting = Interesting();
  Hints hints;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (!kInteresting[static_cast<unsigned char>(c)]) continue;
    const auto follows = [&](std::string_view rest) { return line.substr(at + 1, rest.size()) == rest; };
    if (c >= '0' && c <= '9') {
      hints.figures = true;
    } else if (c == '/') {
      // A step of steps, a rate (it/s, s/it, ms/step) or a bar.
      hints.fraction =
          hints.fraction || follows("s") || follows("it") || (at > 0 && line[at - 1] >= '0' && line[at - 1] <= '9');
    } else if (c == 'a' || c == 'A') {
      hints.data = hints.data || follows("ta") || follows("TA");
    } else if (c == 'o') {
      hints.data = hints.data || follows("ad");
      hints.loss = hints.loss || follows("ss");
    } else {
      hints.data = hints.data || follows("put");
    }
  }
  return hints;
}

class Reader {
 public:
  Reader(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const std::string& line = text_[i];
      const Hints hints = Look(line);
      if (!hints.figures) continue;
      if (hints.data) Shares(i);
      if (hints.fraction || hints.loss) Steps(i, hints);
    }
    AddMeans();
  }

 private:
  void Add(const char* name, Value value, size_t i) {
    AddQuoted(sink_, name, TextJob(), std::move(value), Source::kFramework, text_.lines()[i]);
    text_.Claim(i);
  }

  void Shares(size_t i) {
    if (const auto timings = progress::ReadTimings(text_[i])) {
      text_.Claim(i);
      if (Evaluates(text_[i])) return;  // no training, and a loader of its own
      seen_.push_back(*timings);
      batches_.push_back(Batch(text_[i]));
      newest_ = i;
    } else if (const auto share = progress::ReadInputShare(text_[i])) {
      Add("progress.input.ratio", Value::Of(*share), i);
    }
  }

  void Steps(size_t i, const Hints& hints) {
    if (hints.fraction) GpuMemory(i);
    if (!progress::ShowsSteps(text_[i])) return;
    Add("progress.steps_seen", Value::Of(true), i);
    const auto seconds = progress::ReadStepSeconds(text_[i]);
    if (seconds) Add("progress.step.seconds", Value::Of(*seconds), i);
  }

  void GpuMemory(size_t i) {
    if (const auto memory = progress::ReadGpuMemoryColumn(text_[i])) {
      Add(*memory > 0 ? "framework.on_gpu" : "framework.on_cpu", Value::Of(true), i);
      Add("progress.steps_seen", Value::Of(true), i);
    }
  }

  static bool Evaluates(std::string_view line) {
    const std::string_view bare = Trim(line);
    for (const char* start : {"Test", "test", "Val", "val", "Eval", "eval"}) {
      if (bare.substr(0, std::string_view(start).size()) == start) return true;
    }
    return false;
  }

  // Number of the batch in "Epoch: [0][20/5005]" and "Train: 0 [20/1251 ( 2%)]", from 0; -1 where none is written.
  static int64_t Batch(std::string_view line) {
    for (size_t slash = line.find('/'); slash != std::string_view::npos; slash = line.find('/', slash + 1)) {
      size_t begin = slash;
      while (begin > 0 && (line[begin - 1] == ' ' || (line[begin - 1] >= '0' && line[begin - 1] <= '9'))) --begin;
      if (begin == 0 || line[begin - 1] != '[') continue;
      return ParseInt(Trim(line.substr(begin, slash - begin))).value_or(-1);
    }
    return -1;
  }

  // The running mean over batches of which the first, with the start of the workers, is no part: two means with their
  // counts give the mean of what lies between. Nothing when only the first batch was seen.
  std::optional<double> Between(const progress::Timing progress::StepTimings::*part) const {
    const progress::Timing& first = seen_.front().*part;
    const progress::Timing& last = seen_.back().*part;
    const double before = static_cast<double>(batches_.front() + 1), after = static_cast<double>(batches_.back() + 1);
    if (batches_.back() < 0 || batches_.front() < 0 || after <= before) {
      if (batches_.back() == 0) return std::nullopt;
      return last.mean;
    }
    return std::max(0.0, (*last.mean * after - *first.mean * before) / (after - before));
  }

  // Running means where the lines have them; else the mean of all lines without the first one.
  std::optional<double> MeanOf(const progress::Timing progress::StepTimings::*part) const {
    if ((seen_.back().*part).mean && (seen_.front().*part).mean) return Between(part);
    const size_t first = seen_.size() >= 2 ? 1 : 0;
    if (batches_.back() == 0) return std::nullopt;
    double sum = 0;
    for (size_t i = first; i < seen_.size(); ++i) sum += (seen_[i].*part).value;
    return sum / static_cast<double>(seen_.size() - first);
  }

  void AddMeans() {
    if (seen_.empty()) return;
    Add("progress.steps_seen", Value::Of(true), newest_);
    Add("progress.lines.count", Value::Of(static_cast<int64_t>(seen_.size())), newest_);
    const std::optional<double> batch = MeanOf(&progress::StepTimings::batch),
                                data = MeanOf(&progress::StepTimings::data);
    if (!batch || !data) return;
    Add("progress.batch.seconds", Value::Of(*batch), newest_);
    Add("progress.data.seconds", Value::Of(*data), newest_);
  }

  PastedText& text_;
  EvidenceSink& sink_;
  std::vector<progress::StepTimings> seen_;
  std::vector<int64_t> batches_;  // their numbers
  size_t newest_ = 0;
};

void ReadProgress(PastedText& text, EvidenceSink& sink) { Reader(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_progress;
constinit const ReaderInfo kReader_progress{"progress", &ReadProgress};

}  // namespace gpuwhy
