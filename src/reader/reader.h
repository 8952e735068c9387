// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_READER_H_
#define GPUWHY_READER_READER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/evidence.h"

namespace gpuwhy {

// A logical line: cleaned of what a terminal, a forum or an editor added, and joined where a hard wrap had cut it.
struct TextLine {
  std::string text;
  int number = 0;  // of the first line of the input that it came from, from 1
};

// A pasted text. Every reader sees all of it: formats are mixed, with prose between them.
class PastedText {
 public:
  explicit PastedText(std::vector<TextLine> lines) : lines_(std::move(lines)), claimed_(lines_.size(), false) {}

  const std::vector<TextLine>& lines() const { return lines_; }
  size_t size() const { return lines_.size(); }
  const std::string& operator[](size_t index) const { return lines_[index].text; }
  // Marks a line as understood. What no reader claims is counted in a gap of the report.
  void Claim(size_t index) { claimed_[index] = true; }
  bool claimed(size_t index) const { return claimed_[index]; }

 private:
  std::vector<TextLine> lines_;
  std::vector<bool> claimed_;
};

// The constant of a reader's folder: `extern const ReaderInfo kReader_<folder>`.
struct ReaderInfo {
  std::string_view name;
  void (*read)(PastedText& text, EvidenceSink& sink);
};

// All readers, sorted by folder name (generated from the folder).
std::span<const ReaderInfo* const> AllReaders();

// Undoes what damages a paste: UTF-16 and byte order marks, ANSI escapes, HTML entities and <br/>, CR, Markdown fences,
// quotes and bold, prompts stay. Bytes that are no UTF-8 become U+FFFD. See docs/explain.md for the rules and their
// order.
PastedText CleanText(std::string_view bytes);

// Pushes a fact that rests on a line: `where` is "line 12" and `quote` the line, of a long one 240 bytes with `part` in
// them.
void AddQuoted(EvidenceSink& sink, std::string name, Entity entity, Value value, Source source, const TextLine& line,
               std::string_view part = {});

// A row of a recognised table that cannot be read: a gap that names the table and the line.
void AddRowGap(EvidenceSink& sink, std::string table, const TextLine& line);

// The job that a text speaks of without naming its PID.
inline Entity TextJob() { return Entity::Process(0); }
// A GPU of a text: texts have nothing in common but the index.
inline Entity TextGpu(long long index) { return Entity::Gpu("#" + std::to_string(index)); }

}  // namespace gpuwhy

#endif  // GPUWHY_READER_READER_H_
