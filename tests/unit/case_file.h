// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_UNIT_CASE_FILE_H_
#define GPUWHY_TESTS_UNIT_CASE_FILE_H_

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "model/evidence.h"

// Case files: blocks "--- KIND: NAME" of evidence lines (times in seconds unless the word says us) and lines "expect
// KEY=VALUE
// ...". See docs/verdict.md, "Cases", for the words.
namespace gpuwhy {

struct CaseBlock {
  std::string file, kind, name;
  int line = 0;
  std::vector<std::pair<int, std::string>> lines;
};

struct Expectation {
  std::string key, comparison, value;
};

inline std::vector<CaseBlock> ReadCaseBlocks(std::string_view text, const std::string& file) {
  std::vector<CaseBlock> blocks;
  int number = 0;
  for (const std::string_view raw : Lines(text)) {
    ++number;
    const std::string line(Trim(raw));
    if (line.rfind("--- ", 0) == 0) {
      const size_t colon = line.find(": ");
      const bool whole = colon != std::string::npos;
      blocks.push_back(
          {file, whole ? line.substr(4, colon - 4) : line, whole ? line.substr(colon + 2) : "", number, {}});
    } else if (!line.empty() && line[0] != '#' && !blocks.empty()) {
      blocks.back().lines.emplace_back(number, line);
    }
  }
  return blocks;
}

// Turns the lines of one block into evidence; every method answers "" or what is wrong.
class CaseReader {
 public:
  CaseReader(Evidence& evidence, std::vector<Expectation>& expected) : evidence_(evidence), expected_(expected) {}

  std::string Take(const std::string& line) {
    words_.clear();
    for (const std::string_view word : Split(line, ' ')) {
      if (!word.empty()) words_.emplace_back(word);
    }
    static const std::map<std::string, std::string (CaseReader::*)(const std::string&)> kWords = {
        {"fact", &CaseReader::TakeFact},       {"unknown", &CaseReader::TakeUnknown},
        {"sample", &CaseReader::TakeSample},   {"steps", &CaseReader::TakeSteps},
        {"window", &CaseReader::TakeWindow},   {"kernels", &CaseReader::TakeKernels},
        {"copy", &CaseReader::TakeCopy},       {"calls", &CaseReader::TakeCalls},
        {"wait", &CaseReader::TakeWait},       {"looks", &CaseReader::TakeLooks},
        {"train", &CaseReader::TakeTrain},     {"save", &CaseReader::TakeSave},
        {"compile", &CaseReader::TakeCompile}, {"expect", &CaseReader::TakeExpect},
    };
    const auto word = kWords.find(words_.front());
    return word == kWords.end() ? "unknown word '" + words_.front() + "'" : (this->*word->second)(line);
  }

 private:
  static int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9 + 0.5); }

  static Source SourceOf(const std::string& name) {
    const auto starts = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
    if (starts("framework.")) return Source::kFramework;
    if (starts("cuda.")) return Source::kCuda;
    if (starts("driver.") || starts("process.gpu.")) return Source::kDriver;
    return starts("gpu.") ? Source::kDevice : Source::kOs;
  }

  bool Number(size_t index, double& out) const {
    const std::optional<double> value = index < words_.size() ? ParseDouble(words_[index]) : std::nullopt;
    out = value.value_or(0);
    return value.has_value();
  }

  // "@process:100" in the second place and `count` numbers behind it, from word `from` on.
  bool Numbers(size_t from, size_t count, std::vector<double>& out) const {
    out.assign(count, 0);
    for (size_t i = 0; i < count; ++i) {
      if (!Number(from + i, out[i])) return false;
    }
    return words_.size() > 1 && Entity::Parse(words_[1].substr(1)).pid() > 0;
  }
  int64_t Pid() const { return Entity::Parse(words_[1].substr(1)).pid(); }

  static bool FromJson(const Json& json, Value& out) {
    if (json.is_bool())
      out = Value::Of(json.AsBool());
    else if (json.is_int())
      out = Value::Of(json.AsInt());
    else if (json.is_double())
      out = Value::Of(json.AsDouble());
    else if (json.is_string())
      out = Value::Of(json.AsString());
    else if (json.is_array()) {
      StringList list;
      for (const Json& item : json.AsArray()) list.push_back(item.AsString());
      out = Value::Of(std::move(list));
    } else
      return false;
    return true;
  }

  // Cuts "@entity" and "source=" off the end of a line.
  void CutTail(std::string& text, Entity& entity, Source& source) const {
    for (size_t i = words_.size(); i-- > 2;) {
      const std::string& word = words_[i];
      const bool is_entity = word[0] == '@', is_source = word.rfind("source=", 0) == 0;
      if (!is_entity && !is_source) return;
      if (is_entity) entity = Entity::Parse(word.substr(1));
      if (is_source) source = ParseSource(word.substr(7));
      text = std::string(Trim(text.substr(0, text.rfind(word))));
    }
  }

  std::string TakeFact(const std::string& line) {
    if (words_.size() < 3) return "a fact needs a name and a value";
    const std::string name = words_[1];
    Entity entity;
    Source source = SourceOf(name);
    std::string text = line;
    CutTail(text, entity, source);
    const Result<Json> json = Json::Parse(Trim(text.substr(text.find(name) + name.size())));
    Value value;
    if (!json || !FromJson(*json, value)) return "the value of '" + name + "' is no JSON value";
    evidence_.AddFact(name, entity, value, source);
    return "";
  }

  std::string TakeUnknown(const std::string& line) {
    const std::optional<State> state = words_.size() > 3 ? ParseState(words_[2]) : std::nullopt;
    if (!state || *state == State::kValue) return "expected: unknown NAME STATE \"why\"";
    Entity entity;
    Source source = SourceOf(words_[1]);
    std::string text = line;
    CutTail(text, entity, source);
    const Result<Json> why = Json::Parse(Trim(text.substr(std::min(text.find('"'), text.size()))));
    if (!why || !why->is_string()) return "the reason is no text in quotes";
    evidence_.AddFact(words_[1], entity, Value::Missing(*state, why->AsString()), source);
    return "";
  }

  std::string TakeSample(const std::string&) {
    if (words_.size() < 5 || words_.size() % 2 == 0 || words_[2][0] != '@')
      return "expected: sample METRIC @entity t v t v ...";
    const Entity entity = Entity::Parse(words_[2].substr(1));
    for (size_t i = 3; i + 1 < words_.size(); i += 2) {
      double time = 0, value = 0;
      if (!Number(i, time) || !Number(i + 1, value)) return "no number: " + words_[i] + " " + words_[i + 1];
      evidence_.Add(Sample{words_[1], entity, time, value});
    }
    return "";
  }

  std::string TakeSteps(const std::string&) {
    std::vector<double> none;
    if (!Numbers(2, 0, none) || words_.size() < 3) return "expected: steps @process:PID t:index:wait_s:save_s ...";
    for (size_t i = 2; i < words_.size(); ++i) {
      std::vector<double> parts;
      for (const std::string_view part : Split(words_[i], ':')) parts.push_back(ParseDouble(part).value_or(-1));
      if (parts.size() != 4 || *std::min_element(parts.begin(), parts.end()) < 0)
        return "not t:index:wait:save: " + words_[i];
      evidence_.Add(StepMark{Pid(), Ns(parts[0]), static_cast<uint64_t>(parts[1]), static_cast<uint64_t>(Ns(parts[2])),
                             static_cast<uint64_t>(Ns(parts[3])), 0, 0});
    }
    return "";
  }

  Span SpanAt(SpanKind kind, double start_s, double duration_s) const {
    Span span;
    span.kind = kind;
    span.pid = Pid();
    span.start_ns = Ns(start_s);
    span.duration_ns = Ns(duration_s);
    return span;
  }

  std::string TakeWindow(const std::string&) {
    static const std::map<std::string, uint32_t> kModes = {{"proof", 1}, {"timing", 2}, {"sync", 3}, {"permanent", 4}};
    std::vector<double> n;
    if (!Numbers(3, 2, n) || kModes.count(words_[2]) == 0)
      return "expected: window @process:PID proof|timing|sync|permanent start duration";
    Span span = SpanAt(SpanKind::kWindow, n[0], n[1]);
    span.detail[0] = kModes.at(words_[2]);
    evidence_.Add(span);
    return "";
  }

  std::string TakeKernels(const std::string&) {
    std::vector<double> n;
    if (!Numbers(2, 5, n)) return "expected: kernels @process:PID device start duration_us count gap_us [name]";
    for (int i = 0; i < static_cast<int>(n[3]); ++i) {
      Span span = SpanAt(SpanKind::kKernel, n[1] + i * (n[2] + n[4]) * 1e-6, n[2] * 1e-6);
      span.device = static_cast<int32_t>(n[0]);
      if (words_.size() > 7) span.name = evidence_.Intern(words_[7]);
      evidence_.Add(span);
    }
    return "";
  }

  std::string TakeCopy(const std::string&) {
    // Values of the wire format (wire/schema.json, copy_kind and memory_kind).
    static const std::map<std::string, uint32_t> kKinds = {{"h2d", 1}, {"d2h", 2}, {"d2d", 8}};
    static const std::map<std::string, uint32_t> kMemories = {{"pageable", 1}, {"pinned", 2}, {"device", 3}};
    std::vector<double> n;
    if (!Numbers(2, 4, n) || words_.size() != 9 || kKinds.count(words_[6]) == 0 || kMemories.count(words_[7]) == 0 ||
        kMemories.count(words_[8]) == 0) {
      return "expected: copy @process:PID device start duration_us bytes h2d|d2h|d2d pageable|pinned|device (twice)";
    }
    Span span = SpanAt(SpanKind::kCopy, n[1], n[2] * 1e-6);
    span.device = static_cast<int32_t>(n[0]);
    span.bytes = static_cast<uint64_t>(n[3]);
    span.detail[0] = kKinds.at(words_[6]);
    span.detail[1] = kMemories.at(words_[7]);
    span.detail[2] = kMemories.at(words_[8]);
    evidence_.Add(span);
    return "";
  }

  std::string TakeCalls(const std::string&) {
    std::vector<double> n;
    if (!Numbers(2, 5, n) || words_.size() != 8 || (words_[7] != "sync" && words_[7] != "copy")) {
      return "expected: calls @process:PID thread start duration_us count gap_us sync|copy";
    }
    for (int i = 0; i < static_cast<int>(n[3]); ++i) {
      Span span = SpanAt(words_[7] == "sync" ? SpanKind::kSyncCall : SpanKind::kCopyCall,
                         n[1] + i * (n[2] + n[4]) * 1e-6, n[2] * 1e-6);
      span.lane = static_cast<uint32_t>(n[0]);
      evidence_.Add(span);
    }
    return "";
  }

  std::string TakeHost(SpanKind kind, bool counted) {
    std::vector<double> n;
    if (!Numbers(2, counted ? 3 : 2, n))
      return "expected: wait|save|train|compile @process:PID start duration [steps|stage]";
    Span span = SpanAt(kind, n[0], n[1]);
    if (counted) span.detail[0] = static_cast<uint32_t>(n[2]);
    evidence_.Add(span);
    return "";
  }
  std::string TakeWait(const std::string&) { return TakeHost(SpanKind::kInputWait, false); }
  std::string TakeSave(const std::string&) { return TakeHost(SpanKind::kCheckpoint, false); }
  std::string TakeTrain(const std::string&) { return TakeHost(SpanKind::kTrainCall, true); }

  std::string TakeCompile(const std::string&) { return TakeHost(SpanKind::kCompile, true); }

  // Looks of the agent at the stacks of a process: 20 a second from `start` on.
  std::string TakeLooks(const std::string&) {
    static const std::map<std::string, uint32_t> kCategories = {
        {"other", 0}, {"input", 1}, {"sync", 2}, {"dispatch", 3}, {"checkpoint", 4}, {"compile", 6}, {"idle", 7}};
    std::vector<double> n;
    if (!Numbers(2, 2, n) || words_.size() < 6 || kCategories.count(words_[4]) == 0)
      return "expected: looks @process:PID start count category FILE:LINE function";
    const std::string frame = words_.size() > 6 ? words_[5] + " " + words_[6] : words_[5];
    for (int i = 0; i < static_cast<int>(n[1]); ++i)
      evidence_.Add(HostSample{Pid(), Ns(n[0] + i * 0.05), kCategories.at(words_[4]), evidence_.Intern(frame)});
    return "";
  }

  std::string TakeExpect(const std::string&) {
    for (size_t i = 1; i < words_.size(); ++i) {
      const size_t equal = words_[i].find('=');
      if (equal == std::string::npos || equal == 0) return "no expectation: " + words_[i];
      const bool compares = words_[i][equal - 1] == '>' || words_[i][equal - 1] == '<';
      const size_t end = compares ? equal - 1 : equal;
      expected_.push_back(
          {words_[i].substr(0, end), words_[i].substr(end, equal + 1 - end), words_[i].substr(equal + 1)});
    }
    return words_.size() > 1 ? "" : "an expect line without expectations";
  }

  Evidence& evidence_;
  std::vector<Expectation>& expected_;
  std::vector<std::string> words_;
};

// "" or FILE:LINE: what is wrong.
inline std::string FillEvidence(const CaseBlock& block, Evidence& evidence, std::vector<Expectation>& expected) {
  CaseReader reader(evidence, expected);
  for (const auto& [number, line] : block.lines) {
    const std::string fault = reader.Take(line);
    if (!fault.empty()) return Format("{}:{}: {}", block.file, number, fault);
  }
  return "";
}

}  // namespace gpuwhy

#endif  // GPUWHY_TESTS_UNIT_CASE_FILE_H_
