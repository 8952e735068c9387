// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/file.h"
#include "base/format.h"
#include "base/version.h"
#include "session/session_file.h"

namespace gpuwhy {
namespace {

constexpr size_t kBufferLimit = 1 << 16;
constexpr size_t kSpansALine = 500;

Json SpanRow(const Span& span, int64_t& last_start) {
  Json row = Json::Array{};
  row.Push(span.start_ns - last_start);
  row.Push(span.duration_ns);
  row.Push(span.lane);
  row.Push(span.name);
  row.Push(span.bytes);
  for (const uint32_t detail : span.detail) row.Push(detail);
  last_start = span.start_ns;
  return row;
}

}  // namespace

Result<std::unique_ptr<SessionWriter>> SessionWriter::Create(const std::string& path, int64_t wall_ns,
                                                             int64_t monotonic_ns) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoError("cannot write session " + path, errno);
  std::unique_ptr<SessionWriter> writer(new SessionWriter(path, fd));
  Json header;
  header.Set("schema", "gpuwhy.session/1");
  header.Set("started", Rfc3339(wall_ns));
  header.Set("monotonic_ns", monotonic_ns);
  header.Set("version", kVersion);
  writer->Line(header);
  const Result<void> written = writer->Flush();
  if (!written) return written.error();
  return writer;
}

SessionWriter::~SessionWriter() {
  (void)Flush().has_value();
  close(fd_);
}

void SessionWriter::Line(const Json& line) {
  buffer_ += line.Dump();
  buffer_ += '\n';
  if (buffer_.size() > kBufferLimit) WriteOut();
}

void SessionWriter::WriteOut() {
  size_t done = 0;
  while (done < buffer_.size() && failed_errno_ == 0) {
    const ssize_t put = write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (put > 0) done += static_cast<size_t>(put);
    if (put < 0 && errno != EINTR) failed_errno_ = errno;
  }
  buffer_.clear();
}

void SessionWriter::Add(const Fact& fact) {
  Json line;
  line.Set("k", "fact");
  line.Set("n", fact.name);
  if (fact.entity != Entity::Host()) line.Set("e", fact.entity.Text());
  line.Set("src", SourceName(fact.source));
  if (!fact.where.empty()) line.Set("at", fact.where);
  line.Set("t", fact.time_s);
  SetValue(line, fact.value);
  Line(line);
}

void SessionWriter::Add(const Sample& sample) {
  // A line is one moment of one entity; each metric stands in it once.
  const bool joins = std::all_of(samples_.begin(), samples_.end(), [&](const Sample& one) {
    return one.time_s == sample.time_s && one.entity == sample.entity && one.metric != sample.metric;
  });
  if (!joins) FlushSamples();
  samples_.push_back(sample);
}

void SessionWriter::Add(const Span& span) {
  const SpanGroup group{span.kind, span.pid, span.device};
  std::vector<Span>& spans = spans_[group];
  spans.push_back(span);
  if (spans.size() >= kSpansALine) FlushSpans(group, spans);
}

void SessionWriter::Add(const StepMark& mark) {
  if (!steps_.empty() && (steps_.front().pid != mark.pid || steps_.size() >= kSpansALine)) FlushSteps();
  steps_.push_back(mark);
}

void SessionWriter::Add(const HostSample& sample) {
  if (!host_samples_.empty() && host_samples_.front().pid != sample.pid) FlushHostSamples();
  host_samples_.push_back(sample);
}

void SessionWriter::Add(const Gap& gap) {
  Json line;
  line.Set("k", "gap");
  line.Set("what", gap.what);
  line.Set("why", gap.why);
  line.Set("fix", gap.fix);
  Line(line);
}

uint32_t SessionWriter::Intern(std::string_view name) {
  if (name.empty()) return 0;
  const auto place = names_.find(name);
  if (place != names_.end()) return place->second;
  const auto index = static_cast<uint32_t>(names_.size() + 1);
  names_.emplace(std::string(name), index);
  Json line;
  line.Set("k", "name");
  line.Set("i", index);
  line.Set("n", name);
  Line(line);
  return index;
}

void SessionWriter::FlushSpans(const SpanGroup& group, std::vector<Span>& spans) {
  if (spans.empty()) return;
  Json line;
  line.Set("k", "spans");
  line.Set("kind", static_cast<int>(std::get<0>(group)));
  line.Set("pid", std::get<1>(group));
  line.Set("dev", std::get<2>(group));
  Json rows = Json::Array{};
  int64_t last_start = 0;
  for (const Span& span : spans) rows.Push(SpanRow(span, last_start));
  line.Set("rows", std::move(rows));
  spans.clear();
  Line(line);
}

void SessionWriter::FlushSamples() {
  if (samples_.empty()) return;
  Json line;
  line.Set("k", "samples");
  line.Set("e", samples_.front().entity.Text());
  line.Set("t", samples_.front().time_s);
  Json values = Json::Object{};
  for (const Sample& sample : samples_) values.Set(sample.metric, sample.value);
  line.Set("v", std::move(values));
  samples_.clear();
  Line(line);
}

void SessionWriter::FlushSteps() {
  if (steps_.empty()) return;
  Json line;
  line.Set("k", "steps");
  line.Set("pid", steps_.front().pid);
  Json rows = Json::Array{};
  for (const StepMark& mark : steps_)
    rows.Push(Json::Array{mark.time_ns, mark.index, mark.wait_ns, mark.save_ns, mark.items, mark.hook_ns});
  line.Set("rows", std::move(rows));
  steps_.clear();
  Line(line);
}

void SessionWriter::FlushHostSamples() {
  if (host_samples_.empty()) return;
  Json line;
  line.Set("k", "host");
  line.Set("pid", host_samples_.front().pid);
  Json rows = Json::Array{};
  for (const HostSample& sample : host_samples_) rows.Push(Json::Array{sample.time_ns, sample.category, sample.name});
  line.Set("rows", std::move(rows));
  host_samples_.clear();
  Line(line);
}

Result<void> SessionWriter::Flush() {
  for (auto& [group, spans] : spans_) FlushSpans(group, spans);
  FlushSamples();
  FlushSteps();
  FlushHostSamples();
  WriteOut();
  if (failed_errno_ == 0 || failure_told_) return {};
  failure_told_ = true;
  Error error = ErrnoError("session " + path_ + " is incomplete", failed_errno_);
  error.hint = "free room or name another place with --session FILE";
  return error;
}

}  // namespace gpuwhy
