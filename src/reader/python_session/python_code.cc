// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/python_session/python_code.h"

#include <array>

#include "base/text.h"

namespace gpuwhy::python_session {
namespace {

bool StartsWith(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

// Walks over quotes and brackets: true while the place is inside of one of them.
class Nesting {
 public:
  void Step(char c) {
    if (quote_ != 0) {
      if (c == quote_) quote_ = 0;
    } else if (c == '"' || c == '\'') {
      quote_ = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth_;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth_;
    }
  }
  bool inside() const { return quote_ != 0 || depth_ > 0; }
  bool quoted() const { return quote_ != 0; }
  int depth() const { return depth_; }

 private:
  char quote_ = 0;
  int depth_ = 0;
};

// An expression without blanks outside of quotes, every quote as '.
std::string Normalised(std::string_view expression) {
  std::string text;
  Nesting nesting;
  for (const char c : expression) {
    const bool quoted = nesting.quoted();
    nesting.Step(c);
    if (!quoted && (c == ' ' || c == '\t')) continue;
    text += c == '"' ? '\'' : c;
  }
  if (StartsWith(text, "tensorflow.")) text.replace(0, 10, "tf");
  return text;
}

Printed ParseItem(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front()) {
    return {true, std::string(Trim(text.substr(1, text.size() - 2)))};
  }
  return {false, Normalised(text)};
}

// `print(a, b)` or Python 2's `print a, b`: the arguments; nothing for another statement.
std::optional<std::string_view> PrintArguments(std::string_view statement) {
  if (!StartsWith(statement, "print")) return std::nullopt;
  std::string_view rest = Trim(statement.substr(5));
  if (rest.empty() || statement[5] == '_') return std::nullopt;
  if (rest.front() == '(' && rest.back() == ')') return rest.substr(1, rest.size() - 2);
  return statement[5] == ' ' ? std::optional(rest) : std::nullopt;
}

// Code of `python -c "..."`, "" when the line is no such command.
std::string_view CommandCode(std::string_view line) {
  for (size_t at = line.find(" -c "); at != std::string_view::npos; at = line.find(" -c ", at + 1)) {
    const std::string_view before = line.substr(0, at);
    const size_t word = before.find_last_of(" /\\");
    const std::string_view program = before.substr(word == std::string_view::npos ? 0 : word + 1);
    if (!StartsWith(program, "python") && !StartsWith(program, "py") && !StartsWith(program, "ipython")) continue;
    const std::string_view rest = Trim(line.substr(at + 4));
    if (rest.size() < 3 || (rest[0] != '"' && rest[0] != '\'')) continue;
    const size_t end = rest.rfind(rest[0]);
    return end == 0 ? rest.substr(1) : rest.substr(1, end - 1);
  }
  return {};
}

// Length of "In [12]:" or "Out[12]:" at the begin, 0 when it is not there.
size_t NumberedPrompt(std::string_view line, std::string_view word) {
  if (!StartsWith(line, word)) return 0;
  size_t at = word.size();
  while (at < line.size() && line[at] >= '0' && line[at] <= '9') ++at;
  return line.substr(at, 2) == "]:" ? at + 2 : 0;
}

// What the answer gives to one expression that is not the last: a bracket or a word.
size_t FirstValue(std::string_view rest) {
  Nesting nesting;
  for (size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] == ' ' && !nesting.inside()) return at;
    nesting.Step(rest[at]);
  }
  return rest.size();
}

}  // namespace

Code FindCode(std::string_view line) {
  line = Trim(line);
  for (const std::string_view prompt : {">>>", "... "}) {
    if (StartsWith(line, prompt)) return {Place::kPrompt, Trim(line.substr(prompt.size()))};
  }
  for (const std::string_view word : {"In [", "In["}) {
    if (const size_t size = NumberedPrompt(line, word)) return {Place::kPrompt, Trim(line.substr(size))};
  }
  const std::string_view command = CommandCode(line);
  return command.empty() ? Code{Place::kBare, line} : Code{Place::kCommand, command};
}

bool IsPrompt(std::string_view line) {
  line = Trim(line);
  static constexpr std::array<std::string_view, 6> kBegins = {">>>", "In [", "$ ", "PS ", "# ", "% "};
  for (const std::string_view begin : kBegins) {
    if (StartsWith(line, begin)) return true;
  }
  if (line == "$" || !CommandCode(line).empty()) return true;
  const size_t blank = line.find(' ');
  const std::string_view first = line.substr(0, blank);
  if (first.empty() || blank == std::string_view::npos) return false;
  const bool ends = first.back() == '$' || first.back() == '#' || first.back() == '%' || first.back() == '>';
  return ends && (Contains(first, "@") || Contains(first, ":"));
}

std::string_view WithoutOut(std::string_view line) {
  line = Trim(line);
  const size_t size = NumberedPrompt(line, "Out[");
  return size != 0 ? Trim(line.substr(size)) : line;
}

std::vector<std::string_view> SplitOutside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  Nesting nesting;
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == separator && !nesting.inside()) {
      parts.push_back(Trim(text.substr(begin, at - begin)));
      begin = at + 1;
      continue;
    }
    nesting.Step(text[at]);
  }
  parts.push_back(Trim(text.substr(begin)));
  return parts;
}

std::vector<Statement> ParseStatements(std::string_view code) {
  std::vector<Statement> statements;
  for (const std::string_view part : SplitOutside(code.substr(0, 2000), ';')) {
    const std::string_view text = SplitOutside(part, '#').front();
    if (text.empty()) continue;
    Statement statement;
    const std::optional<std::string_view> arguments = PrintArguments(text);
    statement.prints = arguments.has_value();
    for (const std::string_view item : SplitOutside(arguments.value_or(text), ',')) {
      if (!item.empty()) statement.items.push_back(ParseItem(item));
    }
    statements.push_back(std::move(statement));
  }
  return statements;
}

std::optional<std::vector<std::string_view>> MatchPrinted(const Statement& statement, std::string_view line) {
  std::vector<std::string_view> values;
  std::string_view rest = Trim(line);
  // An interactive session shows several values as a tuple: (a, b).
  if (!statement.prints && statement.items.size() > 1) {
    if (rest.size() < 2 || rest.front() != '(' || rest.back() != ')') return std::nullopt;
    values = SplitOutside(rest.substr(1, rest.size() - 2), ',');
    return values.size() == statement.items.size() ? std::optional(values) : std::nullopt;
  }
  for (size_t i = 0; i < statement.items.size(); ++i) {
    const Printed& item = statement.items[i];
    if (item.literal) {
      if (!StartsWith(rest, item.text)) return std::nullopt;
      rest = Trim(rest.substr(item.text.size()));
      continue;
    }
    size_t end = i + 1 == statement.items.size() ? rest.size() : FirstValue(rest);
    if (i + 1 < statement.items.size() && statement.items[i + 1].literal) {
      end = std::min(rest.size(), rest.find(statement.items[i + 1].text));
    }
    if (end == 0) return std::nullopt;
    values.push_back(Trim(rest.substr(0, end)));
    rest = Trim(rest.substr(end));
  }
  return rest.empty() && !values.empty() ? std::optional(values) : std::nullopt;
}

}  // namespace gpuwhy::python_session
