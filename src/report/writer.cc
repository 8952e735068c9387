// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/writer.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "report/layout.h"

namespace gpuwhy::report {

std::string Writer::Painted(std::string_view text, Paint paint) const {
  constexpr std::array<const char*, 7> kCodes = {"", "1", "2", "1;31", "1;33", "1;32", "36"};
  if (!options_.color || paint == Paint::kPlain || text.empty()) return std::string(text);
  return Format("\033[{}m{}\033[0m", kCodes[static_cast<size_t>(paint)], text);
}

void Writer::Item(std::string_view lead, std::string_view text, Paint lead_paint, Paint text_paint) {
  const std::string safe_lead = Printable(lead);
  const int indent = DisplayWidth(safe_lead);
  const std::vector<std::string> lines = Wrap(Printable(text), std::max(20, options_.width - indent));
  // Blanks around the words stay unpainted: a coloured blank is visible with a background or an underline.
  const size_t from = std::min(safe_lead.find_first_not_of(' '), safe_lead.size());
  const size_t end = safe_lead.find_last_not_of(' ') == std::string::npos ? from : safe_lead.find_last_not_of(' ') + 1;
  std::string line =
      safe_lead.substr(0, from) + Painted(safe_lead.substr(from, end - from), lead_paint) + safe_lead.substr(end);
  if (lines.empty()) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out_ += line + "\n";
    return;
  }
  for (const std::string& part : lines) {
    out_ += line + Painted(part, text_paint) + "\n";
    line = std::string(static_cast<size_t>(indent), ' ');
  }
}

void Writer::Paragraph(int indent, std::string_view text, Paint paint) {
  Item(std::string(static_cast<size_t>(indent), ' '), text, Paint::kPlain, paint);
}

void Writer::Code(int indent, std::string_view code) {
  for (const std::string_view line : Lines(code)) {
    if (Trim(line).empty()) {
      out_ += '\n';
      continue;
    }
    out_ += std::string(static_cast<size_t>(indent), ' ') + Painted(Printable(line), Paint::kCyan) + "\n";
  }
}

void Writer::Heading(std::string_view text) {
  out_ += '\n';
  Paragraph(0, text, Paint::kBold);
}

std::string Writer::Text(std::string_view key, const std::map<std::string, std::string>& params) const {
  return LocaleText(key, options_.language, params);
}

}  // namespace gpuwhy::report
