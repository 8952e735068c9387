// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/trend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace gpuwhy {
namespace {

constexpr size_t kFewest = 8;
constexpr size_t kQuarters = 4;

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::optional<Rise> SteadyRise(const Series& series, double from_s, double to_s) {
  std::vector<Point> points;
  for (const Point& point : series) {
    if (point.time_s >= from_s && point.time_s <= to_s) points.push_back(point);
  }
  if (points.size() < kFewest) return std::nullopt;
  std::array<Point, kQuarters> middle;
  for (size_t quarter = 0; quarter < kQuarters; ++quarter) {
    std::vector<double> times, values;
    for (size_t i = quarter * points.size() / kQuarters; i < (quarter + 1) * points.size() / kQuarters; ++i) {
      times.push_back(points[i].time_s);
      values.push_back(points[i].value);
    }
    middle[quarter] = {Median(times), Median(values)};
  }
  const double seconds = middle.back().time_s - middle.front().time_s;
  Rise rise;
  rise.amount = middle.back().value - middle.front().value;
  if (rise.amount <= 0 || seconds <= 0) return std::nullopt;
  rise.per_second = rise.amount / seconds;
  const double mean_step = rise.amount / static_cast<double>(kQuarters - 1);
  for (size_t quarter = 1; quarter < kQuarters; ++quarter) {
    if (middle[quarter].value - middle[quarter - 1].value < mean_step / 3) return std::nullopt;
  }
  std::vector<double> distances;
  for (const Point& point : points) {
    const double expected = middle.front().value + rise.per_second * (point.time_s - middle.front().time_s);
    distances.push_back(std::abs(point.value - expected));
  }
  return Median(distances) < rise.amount / 2 ? std::optional<Rise>(rise) : std::nullopt;
}

}  // namespace gpuwhy
