// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_REPORT_WRITER_H_
#define GPUWHY_REPORT_WRITER_H_

#include <string>
#include <string_view>

#include "report/reporter.h"

namespace gpuwhy::report {

enum class Paint { kPlain, kBold, kDim, kRed, kYellow, kGreen, kCyan };

// Builds the text of a report: wraps, indents and, only when asked, colours. All text that passes is made printable.
class Writer {
 public:
  explicit Writer(const Options& options) : options_(options) {}

  // "lead" and then `text` wrapped to the width, further lines indented to where the text began.
  void Item(std::string_view lead, std::string_view text, Paint lead_paint = Paint::kPlain,
            Paint text_paint = Paint::kPlain);
  void Paragraph(int indent, std::string_view text, Paint paint = Paint::kPlain);
  // Lines as they are: code to copy.
  void Code(int indent, std::string_view code);
  void Heading(std::string_view text);
  void Blank() { out_ += '\n'; }

  Language language() const { return options_.language; }
  std::string Text(std::string_view key, const std::map<std::string, std::string>& params = {}) const;
  const Options& options() const { return options_; }
  std::string Take() { return std::move(out_); }

 private:
  std::string Painted(std::string_view text, Paint paint) const;

  const Options& options_;
  std::string out_;
};

}  // namespace gpuwhy::report

#endif  // GPUWHY_REPORT_WRITER_H_
