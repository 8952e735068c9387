// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_SESSION_FILE_H_
#define GPUWHY_SESSION_SESSION_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/evidence.h"

namespace gpuwhy {

// A recorded session is one append-only file of JSON lines. The first line names the schema (gpuwhy.session/1), the
// wall clock and the program's version; every other line is one piece of evidence ("k" says of what kind). A torn last
// line is what a killed writer leaves and is tolerated; any other bad line is a counted gap.
class SessionWriter : public EvidenceSink {
 public:
  // Creates the file (0600) and writes the header: wall clock and CLOCK_MONOTONIC of time 0. Errors: kIo, kPermission,
  // kNotFound with the path.
  static Result<std::unique_ptr<SessionWriter>> Create(const std::string& path, int64_t wall_ns, int64_t monotonic_ns);
  ~SessionWriter() override;
  SessionWriter(const SessionWriter&) = delete;
  SessionWriter& operator=(const SessionWriter&) = delete;

  void Add(const Fact& fact) override;
  void Add(const Sample& sample) override;
  void Add(const Span& span) override;
  void Add(const StepMark& mark) override;
  void Add(const HostSample& sample) override;
  void Add(const Gap& gap) override;
  uint32_t Intern(std::string_view name) override;

  // Writes what is buffered. After a write error (full disk) the writer stays silent and says so here, once: what was
  // written before stays readable.
  Result<void> Flush();
  const std::string& path() const { return path_; }

 private:
  SessionWriter(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  void Line(const Json& line);
  using SpanGroup = std::tuple<SpanKind, int64_t, int32_t>;  // kind, pid, device
  void FlushSpans(const SpanGroup& group, std::vector<Span>& spans);
  void FlushSamples();
  void FlushSteps();
  void FlushHostSamples();
  void WriteOut();

  std::string path_;
  int fd_ = -1;
  std::string buffer_;
  int failed_errno_ = 0;
  bool failure_told_ = false;
  std::vector<Sample> samples_;
  std::map<SpanGroup, std::vector<Span>> spans_;
  std::vector<StepMark> steps_;
  std::vector<HostSample> host_samples_;
  std::map<std::string, uint32_t, std::less<>> names_;
};

struct SessionInfo {
  std::string started;  // RFC 3339
  std::string version;  // of the gpuwhy that recorded it
  size_t lines = 0;
  size_t bad_lines = 0;
  bool torn = false;  // the last line was cut
};

// True when the text begins like a session.
bool LooksLikeSession(std::string_view text);

// Pushes a recorded session into `sink`. kMalformed for another schema or version, with both named.
Result<SessionInfo> ReadSession(std::string_view text, EvidenceSink& sink);

// JSON of a value and back: {"v":...} when known, {"s":state,"w":why} when not.
void SetValue(Json& line, const Value& value);
Value GetValue(const Json& line);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_SESSION_FILE_H_
