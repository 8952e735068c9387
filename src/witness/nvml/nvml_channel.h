// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_NVML_NVML_CHANNEL_H_
#define GPUWHY_WITNESS_NVML_NVML_CHANNEL_H_

#include <string>
#include <utility>

#include "model/evidence.h"
#include "witness/nvml/nvml_abi.h"
#include "witness/nvml/nvml_errors.h"

namespace gpuwhy::nvml {

// One metric of one entity. The sample is built once, so that a poll allocates nothing. A reading without a value
// becomes a fact of the metric's name that carries the state: once, and again when it changes.
class Channel {
 public:
  Channel(std::string metric, Entity entity) { sample_.metric = std::move(metric), sample_.entity = std::move(entity); }

  void Push(double time_s, double value, EvidenceSink& sink) {
    if (code_ != kSuccess) {
      code_ = kSuccess;
      sink.AddFact(sample_.metric, sample_.entity, Value::Of(value), Source::kDevice, "", time_s);
    }
    sample_.time_s = time_s;
    sample_.value = value;
    sink.Add(sample_);
  }

  void Miss(double time_s, Return code, EvidenceSink& sink) {
    if (code == code_) return;
    code_ = code;
    sink.AddFact(sample_.metric, sample_.entity, MissingFor(code), Source::kDevice, "", time_s);
  }

  // A reading or the reason why there is none, whichever `code` says.
  void Put(double time_s, Return code, double value, EvidenceSink& sink) {
    if (code == kSuccess) {
      Push(time_s, value, sink);
    } else {
      Miss(time_s, code, sink);
    }
  }

  // The driver said that it will never answer: no need to ask again.
  bool closed() const { return IsPermanent(code_); }
  const Sample& last() const { return sample_; }

 private:
  Sample sample_;
  Return code_ = kSuccess;
};

}  // namespace gpuwhy::nvml

#endif  // GPUWHY_WITNESS_NVML_NVML_CHANNEL_H_
