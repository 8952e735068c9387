// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_RECORDER_H_
#define GPUWHY_SESSION_RECORDER_H_

#include <memory>
#include <vector>

#include "session/session_file.h"

namespace gpuwhy {

// Evidence in memory and, beside it, the session file. What a session replays is what the run itself judged by. Without
// a file (no room, no permission) it goes on in memory alone: recording must never cost the job its verdict.
class Recorder : public EvidenceSink {
 public:
  // `writer` may be empty.
  explicit Recorder(std::unique_ptr<SessionWriter> writer) : writer_(std::move(writer)) {}

  void Add(const Fact& fact) override;
  void Add(const Sample& sample) override;
  void Add(const Span& span) override;
  void Add(const StepMark& mark) override;
  void Add(const HostSample& sample) override;
  void Add(const Gap& gap) override;
  uint32_t Intern(std::string_view name) override;

  // Writes what is buffered; the first error becomes a gap of the evidence and ends the recording.
  void Flush();
  const Evidence& evidence() const { return evidence_; }
  bool recording() const { return writer_ != nullptr; }

 private:
  uint32_t FileName(uint32_t index) const { return index < file_names_.size() ? file_names_[index] : 0; }

  Evidence evidence_;
  std::unique_ptr<SessionWriter> writer_;
  std::vector<uint32_t> file_names_{0};  // number in the evidence -> number in the file
};

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_RECORDER_H_
