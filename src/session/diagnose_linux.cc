// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "base/text.h"
#include "session/diagnose.h"
#include "session/input.h"
#include "session/machine.h"
#include "session/read_text.h"
#include "session/session_file.h"
#include "session/share.h"

namespace gpuwhy {

Result<Report> DiagnoseInput(std::string_view text, const std::string& name) {
  const bool plain = !text.empty() && text.front() == '{' && LooksLikeSession(text);
  // The name of the schema survives every way of quoting; without it no line has to be looked at.
  const bool named = Contains(text, "gpuwhy.session/");
  const std::optional<std::string> quoted = plain || !named ? std::nullopt : FindQuotedSession(text);
  if (quoted) return DiagnoseInput(*quoted, name);
  if (!LooksLikeSession(text)) {
    const Result<Evidence> pasted = ReadText(text, name);
    return pasted ? Result<Report>(Judge(*pasted)) : Result<Report>(pasted.error());
  }
  Evidence evidence;
  const Result<SessionInfo> info = ReadSession(text, evidence);
  if (!info) {
    const Error& error = info.error();
    return Error{error.code, Format("cannot read {}: {}", name, error.message), error.hint};
  }
  // Recorded by a gpuwhy that was killed at once: readable, and empty.
  if (info->lines <= 1 && info->bad_lines == 0)
    evidence.Add(Gap{"gap.session", "gap.session_empty", "gpuwhy run -- CMD"});
  return Judge(evidence);
}

Result<Report> DiagnoseFile(const std::string& path) {
  const Result<Input> input = ReadInput(path);
  return input ? DiagnoseInput(input->text, input->name) : Result<Report>(input.error());
}

}  // namespace gpuwhy
