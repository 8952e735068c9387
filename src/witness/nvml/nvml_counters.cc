// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/nvml/nvml_counters.h"

#include "base/text.h"

namespace gpuwhy::nvml {
namespace {

constexpr double kMilli = 1e-3;
constexpr double kNano = 1e-9;
constexpr uint64_t kNarrowRange = uint64_t{1} << 32U;

double AsDouble(const FieldValue& field) {
  switch (field.value_type) {
    case kTypeDouble:
      return field.value.as_double;
    case kTypeUnsigned:
      return field.value.as_unsigned;
    case kTypeUnsignedLong:
      return static_cast<double>(field.value.as_unsigned_long);
    case kTypeSignedLongLong:
      return static_cast<double>(field.value.as_signed_long_long);
    case kTypeSigned:
      return field.value.as_int;
    default:
      return static_cast<double>(field.value.as_unsigned_long_long);
  }
}

}  // namespace

// Headers of the driver branches (NVML_FI_DEV_CLOCKS_EVENT_REASON_*): none up to 570, 251 to 253 in 575 and in 580.65,
// 269 to 271 from 580.82 on, where 251 to 268 are power smoothing again. What lies between is not guessed.
std::optional<ThrottleFields> ThrottleFieldsOf(std::string_view driver_version) {
  const std::optional<Version> version = ParseVersion(driver_version);
  if (!version) return std::nullopt;
  if (Compare(*version, Version{{580, 82}}) >= 0) return ThrottleFields{269, 270, 271};
  if (version->major() == 575 || (version->major() == 580 && version->minor() <= 65))
    return ThrottleFields{251, 252, 253};
  return std::nullopt;
}

Counters::Counters(const Library& library, const Device& device, bool pcie) : api_(library.api()), device_(device) {
  Want(kFieldEnergyMillijoules, kMilli, "gpu.energy.joules", device);
  Want(kFieldPowerPolicyNs, kNano, "gpu.throttle.power.seconds", device);
  const std::optional<ThrottleFields> throttle = ThrottleFieldsOf(DriverVersion(library));
  // Field 0: this driver has none that is known.
  Want(throttle ? throttle->sw_thermal : 0, kNano, "gpu.throttle.sw_thermal.seconds", device);
  Want(throttle ? throttle->hw_thermal : 0, kNano, "gpu.throttle.hw_thermal.seconds", device);
  Want(throttle ? throttle->power_brake : 0, kNano, "gpu.throttle.hw_power_brake.seconds", device);
  if (pcie) {
    traffic_.push_back({kFieldPcieTxBytes, Channel("gpu.pcie.tx.bytes_per_second", device.entity), {}, false});
    traffic_.push_back({kFieldPcieRxBytes, Channel("gpu.pcie.rx.bytes_per_second", device.entity), {}, false});
  }
  request_.reserve(wanted_.size() + traffic_.size());
}

void Counters::Want(unsigned field, double factor, const char* name, const Device& device) {
  wanted_.push_back({field, factor, Channel(name, device.entity)});
}

Return Counters::Poll(double time_s, EvidenceSink& sink) {
  if (fields_work_) {
    const Return code = PollFields(time_s, sink);
    if (code == kSuccess || code == kGpuIsLost) {
      last_time_s_ = time_s;
      return code;
    }
    fields_work_ = !IsPermanent(code);
  }
  return PollOld(time_s, sink);
}

Return Counters::PollFields(double time_s, EvidenceSink& sink) {
  request_.clear();
  const auto ask = [&](unsigned field) {
    FieldValue& entry = request_.emplace_back();
    entry.field_id = field;
    entry.result = kNotSupported;
  };
  for (const Wanted& wanted : wanted_) {
    if (wanted.field != 0) ask(wanted.field);
  }
  for (const Traffic& traffic : traffic_) ask(traffic.field);
  const Return code = Call(api_.field_values, device_.handle, static_cast<int>(request_.size()), request_.data());
  if (code != kSuccess) return code;
  size_t at = 0;
  for (Wanted& wanted : wanted_) {
    if (wanted.field == 0) {
      wanted.channel.Miss(time_s, kNotSupported, sink);
      continue;
    }
    const FieldValue& field = request_[at++];
    wanted.channel.Put(time_s, field.result, AsDouble(field) * wanted.factor, sink);
  }
  for (Traffic& traffic : traffic_) PutTraffic(traffic, request_[at++], time_s, sink);
  return kSuccess;
}

void Counters::PutTraffic(Traffic& traffic, const FieldValue& reading, double time_s, EvidenceSink& sink) {
  if (reading.result != kSuccess) {
    traffic.channel.Miss(time_s, reading.result, sink);
    return;
  }
  const auto now = static_cast<uint64_t>(AsDouble(reading));
  if (reading.value_type == kTypeUnsigned && !traffic.narrow) {
    traffic.narrow = true;
    sink.Add(Gap{"PCIe traffic above 4.2 GB/s",
                 "this driver counts PCIe bytes in 32 bits, which are full more than once a second then", ""});
  }
  const double span = time_s - last_time_s_;
  if (traffic.last && span > 0) {
    uint64_t delta = now - *traffic.last;
    // nvml.h: "Value can be wrapped". A wrapped 64-bit counter is a reset of the driver: no reading.
    if (now < *traffic.last) delta = *traffic.last < kNarrowRange ? now + kNarrowRange - *traffic.last : 0;
    if (now >= *traffic.last || *traffic.last < kNarrowRange)
      traffic.channel.Push(time_s, static_cast<double>(delta) / span, sink);
  }
  traffic.last = now;
}

Return Counters::PollOld(double time_s, EvidenceSink& sink) {
  unsigned long long energy = 0;
  const Return energy_code = Call(api_.energy, device_.handle, &energy);
  ViolationTime power = {}, thermal = {};
  const Return power_code = Call(api_.violation, device_.handle, kPolicyPower, &power);
  const Return thermal_code = Call(api_.violation, device_.handle, kPolicyThermal, &thermal);
  for (Wanted& wanted : wanted_) {
    const std::string& name = wanted.channel.last().metric;
    if (wanted.field == kFieldEnergyMillijoules) {
      wanted.channel.Put(time_s, energy_code, static_cast<double>(energy) * kMilli, sink);
    } else if (wanted.field == kFieldPowerPolicyNs) {
      wanted.channel.Put(time_s, power_code, static_cast<double>(power.violation_time) * kNano, sink);
    } else if (name == "gpu.throttle.sw_thermal.seconds") {
      // One counter for all thermal limits, which later drivers split; it is the software one on the chips measured so.
      wanted.channel.Put(time_s, thermal_code, static_cast<double>(thermal.violation_time) * kNano, sink);
    } else {
      wanted.channel.Miss(time_s, kFunctionNotFound, sink);
    }
  }
  for (Traffic& traffic : traffic_) traffic.channel.Miss(time_s, kFunctionNotFound, sink);
  for (const Return code : {energy_code, power_code, thermal_code}) {
    if (code == kGpuIsLost) return code;
  }
  return kSuccess;
}

}  // namespace gpuwhy::nvml
