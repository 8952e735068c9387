// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_PYTHON_SESSION_PYTHON_CODE_H_
#define GPUWHY_READER_PYTHON_SESSION_PYTHON_CODE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The little of Python that people type to ask a framework what it sees.
namespace gpuwhy::python_session {

// One thing that a statement prints: a text in quotes or an expression, without blanks, quotes as '.
struct Printed {
  bool literal = false;
  std::string text;
};

// What one statement puts on one line: the arguments of a print, or the value of an expression.
struct Statement {
  bool prints = false;  // by print; otherwise only an interactive session shows the value
  std::vector<Printed> items;
};

// Where code was found in a line.
enum class Place { kPrompt, kCommand, kBare };
struct Code {
  Place place = Place::kBare;
  std::string_view text;
};

// Code behind ">>>", "In [3]:" or in `python -c "..."`; the whole line otherwise.
Code FindCode(std::string_view line);
// A prompt of Python, IPython or a shell: the answer to what stood before has ended.
bool IsPrompt(std::string_view line);
// Behind "Out[3]:", else the line; without blanks around it.
std::string_view WithoutOut(std::string_view line);

std::vector<Statement> ParseStatements(std::string_view code);
// Cut at a separator that stands outside of quotes and brackets; parts without blanks around them.
std::vector<std::string_view> SplitOutside(std::string_view text, char separator);

// The parts of a printed line that belong to the items which are expressions, in order; nothing when the line cannot be
// what the statement printed. The last expression takes the rest of the line, others one word or one bracket.
std::optional<std::vector<std::string_view>> MatchPrinted(const Statement& statement, std::string_view line);

}  // namespace gpuwhy::python_session

#endif  // GPUWHY_READER_PYTHON_SESSION_PYTHON_CODE_H_
