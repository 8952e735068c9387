// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/read_text.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/format.h"
#include "base/text.h"
#include "reader/clean_decode.h"
#include "reader/clean_gbk.h"
#include "reader/reader.h"
#include "session/machine.h"

namespace gpuwhy {
namespace {

constexpr const char* kWhatToGive = "give the text of nvidia-smi, a log, an error message or a recorded session";
constexpr size_t kSampled = 1 << 16;

// Binary data is no damaged text: zeros in narrow text, or a third of it control characters and broken bytes.
bool LooksBinary(std::string_view bytes) {
  const std::string_view sample = bytes.substr(0, kSampled);
  if (LooksWide(sample)) return false;
  size_t zeros = 0, controls = 0;
  for (const char c : sample) {
    const auto byte = static_cast<unsigned char>(c);
    zeros += byte == 0 ? 1U : 0U;
    const bool layout = byte == '\n' || byte == '\r' || byte == '\t' || byte == 0x1B || byte == '\b';
    controls += byte < 0x20 && byte != 0 && !layout ? 1U : 0U;
  }
  const bool wide = zeros > sample.size() * 2 / 5 && zeros < sample.size() * 3 / 5 && controls * 50 < sample.size();
  // A log that was cut while it was written begins with zeros, and one zero in a table is damage.
  const size_t leading = std::min(sample.find_first_not_of('\0'), sample.size());
  return ((zeros - leading) * 50 > sample.size() && !wide) || leading == sample.size() || controls * 10 > sample.size();
}

size_t CountBroken(std::string_view bytes, const PastedText& text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  size_t count = 0;
  for (const TextLine& line : text.lines()) {
    for (size_t at = line.text.find(kReplacement); at != std::string::npos; at = line.text.find(kReplacement, at + 3))
      ++count;
  }
  // A mark that already stood in the text was damaged by somebody else, and is counted all the same.
  return std::min(count, bytes.size());
}

// Bytes that are no text, and lines that were taken for another encoding than UTF-8: both may hide a word.
void AddDamage(std::string_view bytes, const PastedText& text, Evidence& evidence) {
  const bool chinese = !LooksWide(bytes) && LooksLikeGbk(bytes);
  if (const std::optional<GbkText> gbk = chinese ? DecodeGbk(bytes) : std::nullopt)
    evidence.Add(Gap{"gap.text.gbk", "gap.text.gbk_why", "gap.text.gbk_fix", {{"count", std::to_string(gbk->lines)}}});
  const size_t broken = CountBroken(bytes, text);
  if (broken == 0) return;
  evidence.Add(Gap{"gap.text.damaged",
                   chinese ? "gap.text.damaged_gbk" : "gap.text.damaged_why",
                   chinese ? "iconv -f GB18030 -t UTF-8 FILE | gpuwhy explain -" : "",
                   {{"count", std::to_string(broken)}}});
}

void AddGaps(std::string_view bytes, const PastedText& text, Evidence& evidence) {
  size_t unread = 0, total = 0;
  int first = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (Trim(text[i]).empty()) continue;
    ++total;
    if (text.claimed(i)) continue;
    if (unread++ == 0) first = text.lines()[i].number;
  }
  if (unread > 0) {
    evidence.Add(
        Gap{"gap.text.lines",
            "gap.text.lines_why",
            "",
            {{"count", std::to_string(unread)}, {"total", std::to_string(total)}, {"line", std::to_string(first)}}});
  }
  AddDamage(bytes, text, evidence);
}

}  // namespace

Result<Evidence> ReadText(std::string_view bytes, const std::string& name) {
  if (Trim(bytes).empty())
    return Error{ErrorCode::kUnsupported, Format("cannot read {}: it is empty", name), kWhatToGive};
  if (LooksBinary(bytes))
    return Error{ErrorCode::kUnsupported, Format("cannot read {}: binary data, not a text", name), kWhatToGive};
  PastedText text = CleanText(bytes);
  const auto blank = [](const TextLine& line) { return Trim(line.text).empty(); };
  if (std::all_of(text.lines().begin(), text.lines().end(), blank))
    return Error{ErrorCode::kUnsupported, Format("cannot read {}: it holds no text", name), kWhatToGive};
  Evidence evidence;
  evidence.AddFact(kKindFact, Entity::Host(), Value::Of(std::string(kKindText)), Source::kOs);
  for (const ReaderInfo* reader : AllReaders()) reader->read(text, evidence);
  AddGaps(bytes, text, evidence);
  return evidence;
}

}  // namespace gpuwhy
