// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/recorder.h"

namespace gpuwhy {

void Recorder::Add(const Fact& fact) {
  const Fact* old = evidence_.Find(fact.name, fact.entity);
  // Agents repeat facts that may have changed: the file holds changes alone.
  const bool same = old != nullptr && old->value.state == fact.value.state && old->value.scalar == fact.value.scalar &&
                    old->value.why == fact.value.why;
  if (same) return;
  evidence_.Add(fact);
  if (writer_) writer_->Add(fact);
}

void Recorder::Add(const Sample& sample) {
  evidence_.Add(sample);
  if (writer_) writer_->Add(sample);
}

void Recorder::Add(const Span& span) {
  evidence_.Add(span);
  if (!writer_) return;
  Span copy = span;
  copy.name = FileName(span.name);
  writer_->Add(copy);
}

void Recorder::Add(const StepMark& mark) {
  evidence_.Add(mark);
  if (writer_) writer_->Add(mark);
}

void Recorder::Add(const HostSample& sample) {
  evidence_.Add(sample);
  if (!writer_) return;
  HostSample copy = sample;
  copy.name = FileName(sample.name);
  writer_->Add(copy);
}

void Recorder::Add(const Gap& gap) {
  evidence_.Add(gap);
  if (writer_) writer_->Add(gap);
}

uint32_t Recorder::Intern(std::string_view name) {
  const uint32_t index = evidence_.Intern(name);
  if (index >= file_names_.size()) file_names_.resize(index + 1, 0);
  if (writer_ && file_names_[index] == 0) file_names_[index] = writer_->Intern(name);
  return index;
}

void Recorder::Flush() {
  if (!writer_) return;
  const Result<void> written = writer_->Flush();
  if (written) return;
  evidence_.Add(Gap{"the session file", written.error().message, written.error().hint});
  writer_.reset();
}

}  // namespace gpuwhy
