// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_MODEL_METRIC_H_
#define GPUWHY_MODEL_METRIC_H_

#include <span>
#include <string_view>

namespace gpuwhy {

enum class MetricKind { kGauge, kCounter };

// A defined quantity. Names are domain.thing.unit in base units (seconds, bytes, watts, hertz, ratio 0..1).
struct Metric {
  std::string_view name;
  std::string_view unit;
  MetricKind kind;
  std::string_view meaning;
};

std::span<const Metric> Metrics();
// nullptr for a name that is not in the table.
const Metric* FindMetric(std::string_view name);
// Unit by the last part of a name ("x.ratio" -> "ratio"), "" when it has none: facts follow the same naming.
std::string_view UnitOf(std::string_view name);

}  // namespace gpuwhy

#endif  // GPUWHY_MODEL_METRIC_H_
