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
// Least slope between quarters, and between the last two, in shares of the whole one. What levels off slows down: a
// cache that fills half of what is missing in each 0.35 of the time ends at 0.56, a logarithm at 0.57, a leak of so
// many bytes a step at 1.
constexpr double kLeastSlope = 1.0 / 3, kLastSlope = 2.0 / 3;

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
  for (size_t quarter = 1; quarter < kQuarters; ++quarter) {
    const double least = quarter + 1 == kQuarters ? kLastSlope : kLeastSlope;
    const double time = middle[quarter].time_s - middle[quarter - 1].time_s;
    if (middle[quarter].value - middle[quarter - 1].value < least * rise.per_second * time) return std::nullopt;
  }
  std::vector<double> distances;
  for (const Point& point : points) {
    const double expected = middle.front().value + rise.per_second * (point.time_s - middle.front().time_s);
    distances.push_back(std::abs(point.value - expected));
  }
  return Median(distances) < rise.amount / 2 ? std::optional<Rise>(rise) : std::nullopt;
}

}  // namespace gpuwhy
