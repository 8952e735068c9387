// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

#include "base/text.h"
#include "reader/clean_decode.h"
#include "reader/clean_prefix.h"
#include "reader/reader.h"

namespace gpuwhy {
namespace {

constexpr size_t kNarrowest = 60, kWidest = 250;  // columns at which terminals and mail programs cut lines
constexpr size_t kUsual[] = {80, 100, 120, 132};
constexpr size_t kMail[] = {72, 80, 100};  // text that was broken between words
constexpr size_t kLongestWord = 25;
constexpr size_t kMostPieces = 12;  // of one wrapped line: a log line of 900 characters in 80 columns
constexpr size_t kQuotedRun = 3;    // lines in a row that begin with '>' are a quotation

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

size_t Columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// A progress bar redraws its line: what stays on the screen is the last of the pieces between carriage returns.
std::string_view LastDrawn(std::string_view line) {
  line = TrimRight(line);
  const size_t cut = line.find_last_of('\r');
  return cut == std::string_view::npos ? line : line.substr(cut + 1);
}

std::vector<TextLine> SplitLines(const std::string& text) {
  const char end = text.find('\n') == std::string::npos ? '\r' : '\n';
  std::vector<TextLine> lines;
  int number = 0;
  for (const std::string_view line : Split(text, end)) {
    ++number;
    for (const std::string_view piece : Split(line, '\v')) lines.push_back({std::string(LastDrawn(piece)), number});
  }
  return lines;
}

// "> " of a quotation, not the ">>> " of Python and not the "> " of a lone shell prompt.
bool Quoted(const std::string& line) { return StartsWith(line, "> ") || line == ">" || StartsWith(line, "> >"); }

// Bytes of all quotation marks at the beginning: a quotation of a quotation has several.
size_t QuoteBytes(const std::string& line) {
  size_t at = 0;
  while (at < line.size() && line[at] == '>' && (at + 1 == line.size() || line[at + 1] == ' '))
    at = std::min(at + 2, line.size());
  return at;
}

void StripQuotes(std::vector<TextLine>& lines) {
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = begin;
    while (end < lines.size() && Quoted(lines[end].text)) ++end;
    if (end - begin >= kQuotedRun) {
      for (size_t i = begin; i < end; ++i) lines[i].text.erase(0, QuoteBytes(lines[i].text));
    }
    begin = std::max(end, begin + 1);
  }
}

void EraseAll(std::string& line, std::string_view what) {
  std::string out;
  size_t from = 0;
  for (size_t at = line.find(what); at != std::string::npos; at = line.find(what, from)) {
    out.append(line, from, at - from);
    from = at + what.size();
  }
  line = out.append(line, from, std::string::npos);
}

// Fences go; bold and inline code lose their marks where these enclose: at the ends of a line, or in pairs round words.
void StripMarkdown(std::string& line) {
  const std::string_view bare = Trim(line);
  if (StartsWith(bare, "```") || StartsWith(bare, "~~~")) {
    line.clear();
    return;
  }
  if (Contains(bare, "**") &&
      (StartsWith(bare, "**") || (bare.size() > 1 && bare.substr(bare.size() - 2) == "**") || Contains(bare, " **")))
    EraseAll(line, "**");
  const std::string_view now = Trim(line);
  if (now.size() > 2 && now.front() == '`' && now.back() == '`') line = std::string(now.substr(1, now.size() - 2));
}

bool Bar(char c) { return c == '|' || c == '+'; }
bool BeginsRow(std::string_view line) { return !line.empty() && Bar(line.front()); }
bool EndsRow(std::string_view line) { return !TrimRight(line).empty() && Bar(TrimRight(line).back()); }

// The column at which the lines of a text were cut: the length of the longest line, if several are as long, or if it is
// one at which terminals and editors cut (`lone`). 0 where nothing looks cut.
size_t WrapColumn(const std::vector<TextLine>& lines, bool* lone) {
  std::map<size_t, size_t> widths;
  for (const TextLine& line : lines) {
    const size_t width = BeginsRow(line.text) ? 0 : Columns(line.text);
    if (width > 0) ++widths[width];
  }
  if (widths.empty()) return 0;
  const auto [width, count] = *widths.rbegin();
  *lone = count == 1;
  const bool usual = std::find(std::begin(kUsual), std::end(kUsual), width) != std::end(kUsual);
  return width >= kNarrowest && width <= kWidest && (count >= 2 || usual) ? width : 0;
}

// The same for rows of tables.
size_t RowColumn(const std::vector<TextLine>& lines) {
  std::map<size_t, size_t> widths;
  size_t filled = 0;
  for (const TextLine& line : lines) {
    const size_t width = Columns(line.text);
    if (width == 0) continue;
    ++filled;
    ++widths[width];
  }
  if (widths.empty()) return 0;
  const auto [width, count] = *widths.rbegin();
  // Nearly all lines as long as the longest: a table of fixed width.
  return width >= kNarrowest && width <= kWidest && count >= 2 && count * 10 <= filled * 7 ? width : 0;
}

// Lines of one list: the same beginning but for digits, or as many commas (CSV). None is the continuation of the other.
bool Alike(std::string_view one, std::string_view other) {
  constexpr size_t kBeginning = 6;
  const auto commas = [](std::string_view line) { return std::count(line.begin(), line.end(), ','); };
  if (commas(one) >= 3 && commas(one) == commas(other)) return true;
  if (one.size() < kBeginning || other.size() < kBeginning) return false;
  return std::equal(one.begin(), one.begin() + kBeginning, other.begin(), [](char a, char b) {
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    return a == b || (digit(a) && digit(b));
  });
}

// How a line begins that is no continuation: a time stamp, a prompt, a bracket, a bar, a traceback.
bool LooksFresh(std::string_view line) {
  // Indented lines are items of a list or a tree (nvidia-smi -q): a terminal cuts anywhere, seldom before two blanks.
  if (line.empty() || BeginsRow(line) || StartsWith(line, "  ") || StartsWith(line, "\t")) return true;
  for (const char* start : {">>>", "$ ", "# ", "In [", "Out[", "Traceback", "  File ", "[", "PS ", "WARNING", "ERROR",
                            "INFO", "RuntimeError", "E tensorflow", "I tensorflow", "W tensorflow", "Epoch"}) {
    if (StartsWith(line, start)) return true;
  }
  const auto digit = [&](size_t i) {
    return i < line.size() && std::isdigit(static_cast<unsigned char>(line[i])) != 0;
  };
  return digit(0) && digit(1) && digit(2) && digit(3) && line.size() > 5 && (line[4] == '-' || line[4] == '/');
}

// A line drawn of one character ends where its author wanted it to end.
bool EndsInWords(std::string_view line) {
  return !line.empty() && std::string_view("=-+*#_~.:;!?").find(line.back()) == std::string_view::npos;
}

// A row of a table that the terminal cut: it begins with a bar, the next line only ends with one.
bool CutRow(std::string_view line, std::string_view next, size_t width) {
  const bool whole = EndsRow(line) && Columns(line) < width;
  return BeginsRow(line) && !whole && !next.empty() && !BeginsRow(next) && EndsRow(next);
}

// How two pieces of a line belong together.
enum class Seam { kNone, kCut, kBlank };

// A stop at the end of a piece may be the middle of a number ("505." "96 MiB") or of a place ("dnn.cc:" "362]").
bool MayGoOn(std::string_view piece, std::string_view next) {
  if (EndsInWords(piece)) return true;
  const bool point = !piece.empty() && (piece.back() == '.' || piece.back() == ':');
  return point && piece.size() > 1 && std::isalnum(static_cast<unsigned char>(piece[piece.size() - 2])) != 0 &&
         !next.empty() && std::isdigit(static_cast<unsigned char>(next.front())) != 0;
}

// The width of a page whose longest line has `longest` columns, if it was broken between words; 0 if it is too wide.
size_t MailWidth(size_t longest) {
  for (const size_t width : kMail) {
    if (longest <= width && longest + kLongestWord > width) return width;
  }
  return 0;
}

// Broken between words: the next word had no room any more.
bool BrokenAtWord(std::string_view piece, std::string_view next, size_t longest) {
  const size_t width = MailWidth(longest), length = Columns(piece);
  const size_t word = std::min(next.find(' '), next.size());
  if (width == 0 || next.empty() || length + kLongestWord < width || length + 1 + word <= width) return false;
  if (std::islower(static_cast<unsigned char>(next.front())) != 0) return EndsInWords(piece);
  const char end = piece.back();
  return end == ':' || end == ',' || std::isalpha(static_cast<unsigned char>(end)) != 0;
}

// Between a line and the next: cut in the middle, or at a blank that was lost at the end of the line, or by a mail
// program. `width` is that of cut lines, 0 where nothing was cut; `longest` that of the longest line.
Seam SeamOf(std::string_view piece, std::string_view next, size_t width, size_t longest) {
  if (piece.empty() || next.empty() || BeginsRow(piece) || LooksFresh(next) || Alike(piece, next)) return Seam::kNone;
  const size_t length = Columns(piece);
  if (length == width && MayGoOn(piece, next)) return Seam::kCut;
  if (next.front() == ' ') return Seam::kNone;
  if (length + 1 == width && EndsInWords(piece)) return Seam::kBlank;
  return BrokenAtWord(piece, next, longest) ? Seam::kBlank : Seam::kNone;
}

// Columns of the longest line that is no row of a table.
size_t Longest(const std::vector<TextLine>& lines) {
  size_t longest = 0;
  for (const TextLine& line : lines) longest = BeginsRow(line.text) ? longest : std::max(longest, Columns(line.text));
  return longest;
}

void JoinWrapped(std::vector<TextLine>& lines) {
  bool lone = false;
  const size_t width = WrapColumn(lines, &lone), row_width = RowColumn(lines), longest = Longest(lines);
  std::vector<TextLine> joined;
  for (size_t i = 0; i < lines.size(); ++i) {
    TextLine line = std::move(lines[i]);
    std::string piece = line.text;  // the last one that was joined
    for (size_t pieces = 1; i + 1 < lines.size() && pieces < kMostPieces; ++pieces) {
      const std::string& next = lines[i + 1].text;
      const bool row = row_width > 0 && CutRow(line.text, next, row_width);
      // One line that is as long as a terminal is wide may be a coincidence: a command ends in a bracket or a quote.
      const bool complete = lone && pieces == 1 && !piece.empty() && Contains(")]}\"'", piece.substr(piece.size() - 1));
      const Seam seam = row ? Seam::kCut : complete ? Seam::kNone : SeamOf(piece, next, width, longest);
      if (seam == Seam::kNone) break;
      // Blanks at the cut were lost when the text was copied.
      const size_t length = Columns(piece);
      if (row && length < row_width) line.text.append(row_width - length, ' ');
      if (seam == Seam::kBlank) line.text += ' ';
      line.text += next;
      piece = next;
      ++i;
    }
    joined.push_back(std::move(line));
  }
  lines = std::move(joined);
}

}  // namespace

PastedText CleanText(std::string_view bytes) {
  std::vector<TextLine> lines = SplitLines(StripHtml(DecodeText(bytes)));
  StripQuotes(lines);
  StripPrefixes(lines);
  StripQuotes(lines);  // a quotation that was logged
  for (TextLine& line : lines) StripMarkdown(line.text);
  JoinWrapped(lines);
  return PastedText(std::move(lines));
}

}  // namespace gpuwhy
