// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "base/format.h"
#include "base/text.h"
#include "session/session_file.h"

namespace gpuwhy {
namespace {

constexpr std::string_view kSchema = "gpuwhy.session/1";
// Longer than any job: the file may be damaged or made up, and sums of such times cannot overflow.
constexpr int64_t kLongestNs = int64_t{1} << 60;

bool PlausibleTime(int64_t ns) { return ns >= -kLongestNs && ns <= kLongestNs; }

// Turns lines into evidence. Names get new numbers in the sink, so a table translates the file's numbers.
class LineReader {
 public:
  explicit LineReader(EvidenceSink& sink) : sink_(sink) {}

  bool Read(const Json& line) {
    const std::string& kind = line["k"].AsString();
    if (kind == "fact") return ReadFact(line);
    if (kind == "samples") return ReadSamples(line);
    if (kind == "spans") return ReadSpans(line);
    if (kind == "steps") return ReadSteps(line);
    if (kind == "host") return ReadHost(line);
    if (kind == "name") {
      names_[line["i"].AsInt()] = sink_.Intern(line["n"].AsString());
      return true;
    }
    if (kind == "gap") {
      sink_.Add(Gap{line["what"].AsString(), line["why"].AsString(), line["fix"].AsString()});
      return true;
    }
    return false;
  }

 private:
  bool ReadFact(const Json& line) {
    if (line["n"].AsString().empty()) return false;
    const Json& entity = line["e"];
    sink_.Add(Fact{line["n"].AsString(), entity.is_string() ? Entity::Parse(entity.AsString()) : Entity::Host(),
                   GetValue(line), ParseSource(line["src"].AsString()), line["at"].AsString(), line["t"].AsDouble()});
    return true;
  }

  bool ReadSamples(const Json& line) {
    const Entity entity = Entity::Parse(line["e"].AsString());
    for (const auto& [metric, value] : line["v"].AsObject()) {
      if (value.is_number()) sink_.Add(Sample{metric, entity, line["t"].AsDouble(), value.AsDouble()});
    }
    return line["v"].is_object();
  }

  bool ReadSpans(const Json& line) {
    const int64_t kind = line["kind"].AsInt(-1);
    if (kind < 0 || kind > static_cast<int64_t>(SpanKind::kWindow)) return false;
    int64_t start = 0;
    for (const Json& row : line["rows"].AsArray()) {
      const Json::Array& cell = row.AsArray();
      if (cell.size() < 8) return false;
      const int64_t difference = cell[0].AsInt();
      const int64_t duration = cell[1].AsInt();
      if (!PlausibleTime(difference) || !PlausibleTime(start + difference)) return false;
      if (duration < 0 || duration > kLongestNs) return false;
      start += difference;
      Span span;
      span.kind = static_cast<SpanKind>(kind);
      span.pid = line["pid"].AsInt();
      span.device = static_cast<int32_t>(line["dev"].AsInt());
      span.start_ns = start;
      span.duration_ns = duration;
      span.lane = static_cast<uint32_t>(cell[2].AsInt());
      span.name = Name(cell[3].AsInt());
      span.bytes = static_cast<uint64_t>(cell[4].AsInt());
      for (size_t i = 0; i < 3; ++i) span.detail[i] = static_cast<uint32_t>(cell[5 + i].AsInt());
      sink_.Add(span);
    }
    return true;
  }

  bool ReadSteps(const Json& line) {
    for (const Json& row : line["rows"].AsArray()) {
      const Json::Array& cell = row.AsArray();
      if (cell.size() < 6 || !PlausibleTime(cell[0].AsInt())) return false;
      const auto number = [&](size_t i) { return static_cast<uint64_t>(cell[i].AsInt()); };
      sink_.Add(StepMark{line["pid"].AsInt(), cell[0].AsInt(), number(1), number(2), number(3), number(4), number(5)});
    }
    return true;
  }

  bool ReadHost(const Json& line) {
    for (const Json& row : line["rows"].AsArray()) {
      const Json::Array& cell = row.AsArray();
      if (cell.size() < 3 || !PlausibleTime(cell[0].AsInt())) return false;
      sink_.Add(HostSample{line["pid"].AsInt(), cell[0].AsInt(), static_cast<uint32_t>(cell[1].AsInt()),
                           Name(cell[2].AsInt())});
    }
    return true;
  }

  uint32_t Name(int64_t index) const {
    const auto place = names_.find(index);
    return place == names_.end() ? 0 : place->second;
  }

  EvidenceSink& sink_;
  std::unordered_map<int64_t, uint32_t> names_;
};

}  // namespace

bool LooksLikeSession(std::string_view text) { return Contains(text.substr(0, 200), "\"schema\":\"gpuwhy.session/"); }

Result<SessionInfo> ReadSession(std::string_view text, EvidenceSink& sink) {
  const size_t first_end = text.find('\n');
  const Result<Json> header = Json::Parse(text.substr(0, first_end));
  const std::string schema = header ? (*header)["schema"].AsString() : "";
  if (schema != kSchema) {
    return Error{ErrorCode::kMalformed,
                 Format("the session's schema is \"{}\", this program reads \"{}\"", schema, kSchema),
                 "use the gpuwhy that recorded it"};
  }
  SessionInfo info;
  info.started = (*header)["started"].AsString();
  info.version = (*header)["version"].AsString();
  info.lines = 1;
  LineReader reader(sink);
  const bool ends_whole = !text.empty() && text.back() == '\n';
  size_t number = 1;
  for (size_t at = first_end; at != std::string_view::npos && at + 1 < text.size();) {
    const size_t end = text.find('\n', at + 1);
    const std::string_view line = text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    at = end;
    ++number;
    if (line.empty()) continue;
    const Result<Json> parsed = Json::Parse(line);
    if (parsed && reader.Read(*parsed)) {
      ++info.lines;
      continue;
    }
    if (end == std::string_view::npos && !ends_whole) {
      info.torn = true;
      sink.Add(Gap{"the last line of the session",
                   Format("line {} is cut: the recorder was stopped while it wrote", number), ""});
    } else if (++info.bad_lines <= 20) {
      sink.Add(Gap{"a line of the session", Format("line {} cannot be read", number), ""});
    }
  }
  return info;
}

}  // namespace gpuwhy
