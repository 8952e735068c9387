// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/nvml/nvml_gpm.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuwhy::nvml {
namespace {

constexpr double kShortestSpan = 0.1;      // seconds, nvml.h "GPM functions"
constexpr double kMebibyte = 1024 * 1024;  // the PCIe metrics are MiB/s
constexpr double kPercentCeiling = 101;    // rounding of the driver; above that it is garbage
constexpr double kPcieCeiling = 1e6;       // MiB/s: no link of this decade reaches 1 TB/s

}  // namespace

Gpm::Gpm(const Library& library, const Device& device, EvidenceSink& sink)
    : api_(library.api()), handle_(device.handle) {
  const auto add = [&](unsigned id, double factor, double ceiling, const char* name) {
    wanted_.push_back({id, factor, ceiling, Channel(name, device.entity)});
  };
  add(kGpmGraphics, 0.01, kPercentCeiling, "gpu.gpm.graphics.ratio");
  add(kGpmSm, 0.01, kPercentCeiling, "gpu.gpm.sm.ratio");
  add(kGpmOccupancy, 0.01, kPercentCeiling, "gpu.gpm.occupancy.ratio");
  add(kGpmAnyTensor, 0.01, kPercentCeiling, "gpu.gpm.tensor.ratio");
  add(kGpmDram, 0.01, kPercentCeiling, "gpu.gpm.dram.ratio");
  add(kGpmPcieTx, kMebibyte, kPcieCeiling, "gpu.pcie.tx.bytes_per_second");
  add(kGpmPcieRx, kMebibyte, kPcieCeiling, "gpu.pcie.rx.bytes_per_second");
  GpmSupport support = {1, 0};
  Return code = Call(api_.gpm_support, handle_, &support);
  const Value known = code == kSuccess ? Value::Of(support.supported != 0) : MissingFor(code);
  sink.AddFact("gpu.gpm.supported", device.entity, known, Source::kDriver);
  if (code == kSuccess && support.supported == 0) code = kNotSupported;
  if (code == kSuccess) code = Call(api_.gpm_alloc, &last_);
  if (code == kSuccess) code = Call(api_.gpm_alloc, &now_);
  usable_ = code == kSuccess;
  if (!usable_) {
    AllMiss(0, code, sink);
    return;
  }
  request_ = std::make_unique<GpmMetricsGet>();
}

Gpm::~Gpm() {
  if (last_ != nullptr) Call(api_.gpm_free, last_);
  if (now_ != nullptr) Call(api_.gpm_free, now_);
}

void Gpm::AllMiss(double time_s, Return code, EvidenceSink& sink) {
  // PCIe has another source when GPM is silent, which reports its own state.
  for (Wanted& wanted : wanted_) {
    if (wanted.id != kGpmPcieTx && wanted.id != kGpmPcieRx) wanted.channel.Miss(time_s, code, sink);
  }
}

Return Gpm::Poll(double time_s, EvidenceSink& sink) {
  if (!usable_) return kSuccess;
  if (has_last_ && time_s - last_time_s_ < kShortestSpan) return kSuccess;
  const Return code = Call(api_.gpm_get, handle_, now_);
  if (code != kSuccess) {
    AllMiss(time_s, code, sink);
    has_last_ = false;
    usable_ = !IsPermanent(code);
    return code;
  }
  if (has_last_) Report(time_s, sink);
  std::swap(last_, now_);
  last_time_s_ = time_s;
  has_last_ = true;
  return kSuccess;
}

void Gpm::Report(double time_s, EvidenceSink& sink) {
  request_->version = 1;
  request_->count = static_cast<unsigned>(wanted_.size());
  request_->sample1 = last_;
  request_->sample2 = now_;
  for (size_t at = 0; at < wanted_.size(); ++at) {
    request_->metrics[at] = {};
    request_->metrics[at].id = wanted_[at].id;
  }
  const Return code = Call(api_.gpm_metrics, request_.get());
  for (size_t at = 0; at < wanted_.size(); ++at) {
    Wanted& wanted = wanted_[at];
    const GpmMetric& metric = request_->metrics[at];
    Return result = code != kSuccess ? code : metric.result;
    if (result == kSuccess && !(metric.value >= 0 && metric.value <= wanted.ceiling)) result = kNoData;  // NaN as well
    const double value = wanted.ceiling == kPercentCeiling ? std::min(metric.value, 100.0) : metric.value;
    wanted.channel.Put(time_s, result, value * wanted.factor, sink);
  }
}

}  // namespace gpuwhy::nvml
