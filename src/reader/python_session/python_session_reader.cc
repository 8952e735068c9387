// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "base/text.h"
#include "reader/python_session/answers.h"
#include "reader/python_session/device_list.h"
#include "reader/python_session/python_code.h"
#include "reader/reader.h"

// Sessions of Python, IPython and notebooks, `python -c` and labelled prints: what a framework answered when asked.
namespace gpuwhy {
namespace {

using namespace std::string_view_literals;
using python_session::Code;
using python_session::Place;
using python_session::Statement;

constexpr size_t kFarthestAnswer = 16;  // lines of warnings that may stand between a question and its answer

bool StartsWith(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

constexpr std::array kWords = {"torch"sv,   "tf."sv,  "tensorflow"sv, "jax"sv,      "device"sv, "environ"sv,
                               "Python "sv, "cuda"sv, "CUDA"sv,       "platform"sv, "ort."sv,   "provider"sv};

constexpr size_t Pair(std::string_view text, size_t at) {
  return static_cast<size_t>(static_cast<unsigned char>(text[at])) << 8U | static_cast<unsigned char>(text[at + 1]);
}

// One bit for each pair of letters that a word begins with.
constexpr std::array<uint64_t, 1024> Pairs() {
  std::array<uint64_t, 1024> bits{};
  for (const std::string_view word : kWords) bits[Pair(word, 0) / 64] |= uint64_t{1} << (Pair(word, 0) % 64);
  return bits;
}

// Nearly every line of a log holds none of the words and is left at once.
bool MayMatter(std::string_view line) {
  static constexpr std::array<uint64_t, 1024> kPairs = Pairs();
  for (size_t at = 0; at + 3 <= line.size(); ++at) {
    const size_t pair = Pair(line, at);
    if ((kPairs[pair / 64] >> (pair % 64) & 1U) == 0) continue;
    for (const std::string_view word : kWords) {
      if (line.substr(at, word.size()) == word) return true;
    }
  }
  return false;
}

// Warnings and log lines that come between a question and its answer.
bool IsNoise(std::string_view line) {
  return line.empty() || line[0] == ' ' || line[0] == '\t' || Contains(line, "arning") || Contains(line, "WARNING") ||
         Contains(line, ".cc:") || Contains(line, "Traceback");
}

bool Asks(const Statement& statement) {
  return std::any_of(statement.items.begin(), statement.items.end(), [](const python_session::Printed& item) {
    return !item.literal && python_session::IsQuestion(item.text);
  });
}

class Reader {
 public:
  Reader(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const std::string_view line = text_[i];
      if (IsPythonPrompt(line)) text_.Claim(i);
      if (!MayMatter(line)) continue;
      Banner(i);
      Outcome(i);
      python_session::ReadDeviceList(text_, i, sink_);
      if (!Session(i)) Label(i);
    }
  }

 private:
  static bool IsPythonPrompt(std::string_view line) { return StartsWith(line, ">>>") || StartsWith(line, "In ["); }

  // "Python 3.9.16 (main, ...) [MSC v.1916 64 bit (AMD64)] on win32"
  void Banner(size_t i) {
    const std::string_view line = Trim(text_[i]);
    if (!StartsWith(line, "Python ") || !Contains(line, "(")) return;
    const auto version = ParseVersion(line.substr(7));
    if (!version || version->parts.size() < 2) return;
    const char* name = Contains(line, "[MSC v.") || Contains(line, " on win32") ? "windows"
                       : Contains(line, " on linux")                            ? "linux"
                       : Contains(line, " on darwin")                           ? "macos"
                                                                                : nullptr;
    text_.Claim(i);
    if (name == nullptr) return;
    AddQuoted(sink_, "host.os.name", Entity::Host(), Value::Of(std::string(name)), Source::kOs, text_.lines()[i]);
  }

  // Values that a session shows of GPU tensors and of device lists, whoever asked for them.
  void Outcome(size_t i) {
    const std::string_view line = python_session::WithoutOut(text_[i]);
    if ((StartsWith(line, "tensor(") || StartsWith(line, "[")) && Contains(line, ", device='cuda")) {
      Say(i, "framework.on_gpu", Value::Of(true));
    } else if (StartsWith(line, "['/") && Contains(line, "device:")) {
      int64_t gpus = 0;
      for (const std::string_view part : Split(line, ',')) gpus += Contains(part, "/device:GPU:") ? 1 : 0;
      if (line.back() == ']') Say(i, "framework.tensorflow.gpu_count", Value::Of(gpus));
    } else if (StartsWith(line, "[") && line.back() == ']' && Contains(line, "(id=")) {
      if (python_session::Answer("jax.devices()", line, text_.lines()[i], sink_)) text_.Claim(i);
    }
  }

  void Say(size_t i, const char* name, Value value) {
    AddQuoted(sink_, name, TextJob(), std::move(value), Source::kFramework, text_.lines()[i]);
    text_.Claim(i);
  }

  // Code and the answers below it. False when the line holds no question.
  bool Session(size_t i) {
    const Code code = python_session::FindCode(text_[i]);
    if (code.place == Place::kBare && !MayBeCode(code.text)) return false;
    size_t next = i + 1;
    bool asked = false;
    for (const Statement& statement : python_session::ParseStatements(code.text)) {
      Assignment(statement, i);
      if (!Asks(statement) || (code.place == Place::kCommand && !statement.prints)) continue;
      asked = true;
      next = Find(statement, code.place, i, next);
    }
    if (asked) text_.Claim(i);
    return asked;
  }

  // A line without a prompt is taken for code when it is nothing but a question, a print or an assignment: its first
  // blank comes behind a bracket, or there is none.
  static bool MayBeCode(std::string_view line) {
    if (line.size() > 400) return false;
    if (StartsWith(line, "print") || StartsWith(line, "import ") || StartsWith(line, "os.environ")) return true;
    const size_t blank = line.find(' ');
    return blank == std::string_view::npos || line.find_first_of("([") < blank;
  }

  // os.environ['CUDA_VISIBLE_DEVICES']='-1'
  void Assignment(const Statement& statement, size_t i) {
    if (statement.prints || statement.items.empty()) return;
    constexpr std::string_view kBegin = "os.environ['";
    const std::string_view text = statement.items[0].text;
    const size_t equals = text.find("']='");
    if (!StartsWith(text, kBegin) || equals == std::string_view::npos || text.back() != '\'') return;
    std::string value(text.substr(equals + 4, text.size() - equals - 5));
    for (size_t rest = 1; rest < statement.items.size(); ++rest) value += "," + statement.items[rest].text;
    AddQuoted(sink_, "process.env." + std::string(text.substr(kBegin.size(), equals - kBegin.size())), TextJob(),
              Value::Of(std::move(value)), Source::kOs, text_.lines()[i]);
    text_.Claim(i);
  }

  // Looks for the line that answers; returns the index behind it, or `next` when there is none.
  size_t Find(const Statement& statement, Place place, size_t asked, size_t next) {
    const size_t end = std::min(text_.size(), next + kFarthestAnswer);
    for (size_t at = next; at < end; ++at) {
      if (python_session::IsPrompt(text_[at])) {
        if (place == Place::kPrompt && IsPythonPrompt(Trim(text_[at]))) Silence(statement, asked);
        return next;
      }
      if (IsNoise(text_[at])) continue;
      std::string answer(python_session::WithoutOut(text_[at]));
      const size_t last = Complete(at, answer);
      if (!Take(statement, answer, at)) continue;
      for (size_t claimed = at; claimed <= last; ++claimed) text_.Claim(claimed);
      return last + 1;
    }
    return next;
  }

  // A list may go over several lines: appended until its bracket closes. Returns the index of the last line.
  size_t Complete(size_t at, std::string& answer) const {
    constexpr size_t kMostLines = 16;
    if (answer.empty() || (answer[0] != '[' && answer[0] != '(')) return at;
    size_t last = at;
    const char close = answer[0] == '[' ? ']' : ')';
    while (answer.back() != close && last + 1 < text_.size() && last < at + kMostLines) {
      if (python_session::IsPrompt(text_[last + 1])) break;
      answer += " ";
      answer += Trim(text_[++last]);
    }
    return last;
  }

  bool Take(const Statement& statement, std::string_view answer, size_t at) {
    // A letter that was lost may be the one that names the GPU.
    if (Contains(answer, "\xEF\xBF\xBD")) return false;
    const auto values = python_session::MatchPrinted(statement, answer);
    if (!values) return false;
    bool taken = false;
    size_t number = 0;
    for (const python_session::Printed& item : statement.items) {
      if (item.literal) continue;
      const std::string_view value = (*values)[number++];
      if (python_session::Answer(item.text, value, text_.lines()[at], sink_)) taken = true;
    }
    return taken;
  }

  // An interactive session shows nothing for None.
  void Silence(const Statement& statement, size_t asked) {
    if (statement.prints || statement.items.size() != 1) return;
    if (!python_session::NothingIsAnAnswer(statement.items[0].text)) return;
    python_session::Answer(statement.items[0].text, "None", text_.lines()[asked], sink_);
  }

  // "torch.cuda.is_available(): False", "CUDA available = True"
  void Label(size_t i) {
    std::string_view line = Trim(text_[i]);
    while (!line.empty() && (line[0] == '-' || line[0] == '*' || line[0] == ' ')) line.remove_prefix(1);
    if (line.size() > 200) return;
    for (const std::string_view sign : {": "sv, " = "sv, " -> "sv, " => "sv, "? "sv, "() "sv}) {
      const size_t at = line.find(sign);
      if (at == std::string_view::npos || at > 80) continue;
      const size_t end = sign == "() " ? at + 2 : at;
      if (Labelled(line.substr(0, end), Trim(line.substr(at + sign.size())), i)) return;
    }
  }

  bool Labelled(std::string_view label, std::string_view value, size_t i) {
    std::string expression(python_session::ExpressionOfLabel(label));
    if (expression.empty() && Contains(label, ".") && MayBeCode(label)) {
      const auto statements = python_session::ParseStatements(label);
      if (statements.size() == 1 && statements[0].items.size() == 1) expression = statements[0].items[0].text;
    }
    if (expression.empty() || !python_session::IsQuestion(expression)) return false;
    const std::string_view word = value.substr(0, value.find_first_of(" ,;"));
    for (const std::string_view text : {value, word}) {
      if (!python_session::Answer(expression, text, text_.lines()[i], sink_)) continue;
      text_.Claim(i);
      return true;
    }
    return false;
  }

  PastedText& text_;
  EvidenceSink& sink_;
};

void ReadPythonSession(PastedText& text, EvidenceSink& sink) { Reader(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_python_session;
constinit const ReaderInfo kReader_python_session{"python_session", &ReadPythonSession};

}  // namespace gpuwhy
