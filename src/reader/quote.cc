// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "reader/reader.h"

namespace gpuwhy {
namespace {

constexpr size_t kQuoteBytes = 160;  // two lines of a terminal: enough to recognise the place

std::string Shorten(std::string_view line) {
  std::string text(Trim(line));
  if (text.size() <= kQuoteBytes) return text;
  size_t end = kQuoteBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // no half of a character
  return text.substr(0, end) + "...";
}

}  // namespace

void AddQuoted(EvidenceSink& sink, std::string name, Entity entity, Value value, Source source, const TextLine& line) {
  Fact fact{std::move(name), std::move(entity), std::move(value), source, "line " + std::to_string(line.number), 0};
  fact.quote = Shorten(line.text);
  sink.Add(fact);
}

void AddRowGap(EvidenceSink& sink, std::string table, const TextLine& line) {
  sink.Add(Gap{"gap.text.row",
               "gap.text.row_why",
               "",
               {{"table", std::move(table)}, {"line", std::to_string(line.number)}, {"text", Shorten(line.text)}}});
}

}  // namespace gpuwhy
