// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "reader/reader.h"

namespace gpuwhy {
namespace {

constexpr size_t kQuoteBytes = 240;  // three lines of a terminal: enough to recognise the place

// No half of a character at either end.
size_t Boundary(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

// The line, or the stretch of it that holds `part`.
std::string Shorten(std::string_view line, std::string_view part) {
  const std::string_view text = Trim(line);
  if (text.size() <= kQuoteBytes) return std::string(text);
  const size_t place = part.empty() ? std::string_view::npos : text.find(part);
  size_t begin = 0;
  if (place != std::string_view::npos && place + part.size() > kQuoteBytes)
    begin = Boundary(text, std::min(place - std::min(place, kQuoteBytes / 2), text.size() - kQuoteBytes));
  const size_t end = Boundary(text, std::min(begin + kQuoteBytes, text.size()));
  return (begin > 0 ? "..." : "") + std::string(text.substr(begin, end - begin)) + (end < text.size() ? "..." : "");
}

}  // namespace

void AddQuoted(EvidenceSink& sink, std::string name, Entity entity, Value value, Source source, const TextLine& line,
               std::string_view part) {
  Fact fact{std::move(name), std::move(entity), std::move(value), source, "line " + std::to_string(line.number), 0};
  fact.quote = Shorten(line.text, part);
  sink.Add(fact);
}

void AddRowGap(EvidenceSink& sink, std::string table, const TextLine& line) {
  sink.Add(Gap{"gap.text.row",
               "gap.text.row_why",
               "",
               {{"table", std::move(table)}, {"line", std::to_string(line.number)}, {"text", Shorten(line.text, "")}}});
}

}  // namespace gpuwhy
