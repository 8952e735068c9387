// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/text.h"
#include "reader/messages/catalogue.h"
#include "reader/messages/matcher.h"
#include "reader/reader.h"
#include "reader/torch_version.h"

namespace gpuwhy {
namespace {

using messages::Captures;
using messages::FactKind;
using messages::Message;

// Messages whose id begins so stand beside others and say nothing by themselves (a source line that a warning quotes):
// their lines are understood, and make no fact.
constexpr std::string_view kContext = "context_";

// What the text said under one id.
struct Heard {
  Source rung = Source::kOs;
  int64_t count = 0;
  size_t first_line = 0;
  std::string part;  // of the first line: what a quote has to show
  size_t last_line = 0;
  std::vector<std::string_view> names;  // of the captures, in order
  std::map<std::string_view, StringList> values;
};

// "a {b} c" with the captured text in place of {b}.
std::string Fill(std::string_view pattern, const Captures& captures) {
  std::string text;
  while (!pattern.empty()) {
    const size_t open = pattern.find('{');
    text += pattern.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = pattern.find('}', open);
    const std::string_view name = pattern.substr(open + 1, close - open - 1);
    for (const auto& [key, value] : captures) {
      if (key == name) text += value;
    }
    pattern.remove_prefix(close + 1);
  }
  return text;
}

Entity EntityOf(std::string_view fact) {
  for (const std::string_view prefix : {"framework.", "process.", "progress."}) {
    if (fact.substr(0, prefix.size()) == prefix) return TextJob();
  }
  return Entity::Host();
}

StringList WordsOf(std::string_view text) {
  StringList words;
  for (const std::string_view word : Split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

void AddStated(const Message& message, const Captures& captures, const TextLine& line, EvidenceSink& sink) {
  for (const messages::FactTemplate& fact : message.facts) {
    const std::string name = Fill(fact.name, captures);
    const std::string value = Fill(fact.value, captures);
    if (name == "framework.torch.version") {
      AddTorchVersion(sink, value, message.rung, line);
    } else if (fact.kind == FactKind::kBool) {
      AddQuoted(sink, name, EntityOf(name), Value::Of(value == "true"), message.rung, line);
    } else if (fact.kind == FactKind::kText) {
      AddQuoted(sink, name, EntityOf(name), Value::Of(value), message.rung, line);
    } else if (fact.kind == FactKind::kList) {
      AddQuoted(sink, name, EntityOf(name), Value::Of(WordsOf(value)), message.rung, line);
    } else if (const auto number = ParseInt(value)) {
      AddQuoted(sink, name, EntityOf(name), Value::Of(int64_t{*number}), message.rung, line);
    }
  }
}

void Note(const Message& message, const Captures& captures, size_t line, Heard& heard) {
  if (heard.count == 0) {
    heard.rung = message.rung;
    heard.first_line = line;
    heard.part = captures.empty() ? std::string(message.gram) : std::string(captures.back().second);
  }
  if (heard.count == 0 || heard.last_line != line) ++heard.count;  // several matches in a line are one
  heard.last_line = line;
  for (const auto& [name, value] : captures) {
    if (heard.values.count(name) == 0) heard.names.push_back(name);
    StringList& known = heard.values[name];
    constexpr size_t kMostValues = 64;  // a list for people and rules, no log of the log
    if (known.size() < kMostValues && std::find(known.begin(), known.end(), value) == known.end()) {
      known.emplace_back(value);
    }
  }
}

// "I no longer see ...", "it works without the error ...": people deny a message by what stands in front of it. A log
// line has no such words before the message itself.
bool Denied(std::string_view before) {
  constexpr size_t kFarthest = 60;
  const std::string lower = Lower(before.substr(before.size() - std::min(before.size(), kFarthest)));
  for (const char* word : {"no longer ", "not get ", "n't get ", "not see ", "n't see ", "not seeing ", "not getting ",
                           "n't have ", "without the ", "got rid of ", "instead of ", "used to get ", "used to see "}) {
    if (Contains(lower, word)) return true;
  }
  return false;
}

void ReadMessages(PastedText& text, EvidenceSink& sink) {
  const auto catalogue = messages::AllMessages();
  messages::GramIndex index(catalogue);
  std::map<std::string_view, Heard> all;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string line = messages::SingleBlanks(text[i]);
    index.Candidates(line, [&](size_t number) {
      const Message& message = catalogue[number];
      const size_t begin = line.find(message.gram);
      const bool denied = begin != std::string::npos && Denied(std::string_view(line).substr(0, begin));
      for (const Captures& captures : messages::Match(message, line)) {
        text.Claim(i);
        if (denied) continue;
        if (message.id.substr(0, kContext.size()) != kContext) Note(message, captures, i, all[message.id]);
        AddStated(message, captures, text.lines()[i], sink);
      }
    });
  }
  for (const auto& [id, heard] : all) {
    const std::string name = "log." + std::string(id);
    const TextLine& line = text.lines()[heard.first_line];
    AddQuoted(sink, name, Entity::Host(), Value::Of(heard.count), heard.rung, line, heard.part);
    for (const std::string_view capture : heard.names) {
      AddQuoted(sink, name + "." + std::string(capture), Entity::Host(), Value::Of(heard.values.at(capture)),
                heard.rung, line, heard.values.at(capture).front());
    }
  }
}

}  // namespace

extern const ReaderInfo kReader_messages;
constinit const ReaderInfo kReader_messages{"messages", &ReadMessages};

}  // namespace gpuwhy
