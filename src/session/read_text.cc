// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/read_text.h"

#include <algorithm>
#include <string>

#include "base/format.h"
#include "base/text.h"
#include "reader/clean_decode.h"
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

// Chinese in the encoding of older Windows programs: bytes above ASCII come in pairs of a lead and a trail byte.
bool LooksLikeGbk(std::string_view bytes) {
  const std::string_view sample = bytes.substr(0, kSampled);
  size_t pairs = 0, others = 0;
  for (size_t i = 0; i < sample.size(); ++i) {
    const auto lead = static_cast<unsigned char>(sample[i]);
    if (lead < 0x80) continue;
    const auto trail = i + 1 < sample.size() ? static_cast<unsigned char>(sample[i + 1]) : 0U;
    const bool pair = lead >= 0xB0 && lead <= 0xF7 && trail >= 0xA1 && trail <= 0xFE;  // the characters of GB 2312
    pairs += pair ? 1U : 0U;
    others += pair ? 0U : 1U;
    i += trail >= 0x40 ? 1U : 0U;
  }
  return pairs >= 4 && others * 4 <= pairs;
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
  if (const size_t broken = CountBroken(bytes, text); broken > 0)
    evidence.Add(Gap{"gap.text.damaged",
                     "gap.text.damaged_why",
                     LooksLikeGbk(bytes) ? "iconv -f GB18030 -t UTF-8 FILE | gpuwhy explain -" : "",
                     {{"count", std::to_string(broken)}}});
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
