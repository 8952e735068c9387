// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace gpuwhy {
namespace {

constexpr size_t kReplicates = 4000;
constexpr uint64_t kSeed = 20260101;  // fixed: the same sessions always give the same interval
constexpr double kNormal95 = 1.959964;
constexpr double kNoNoise = 1e-18;  // variance of residuals that are only rounding

WorkCell Sum(const WorkRun& run) {
  WorkCell sum;
  for (const WorkCell& cell : run) {
    sum.seconds += cell.seconds;
    sum.work += cell.work;
  }
  return sum;
}

// Seconds of a cell beyond what its work should have taken, over the mean of a cell: what autocorrelation is asked of.
std::vector<double> Residuals(const WorkRun& run) {
  const WorkCell sum = Sum(run);
  const double mean = sum.seconds / static_cast<double>(run.size());
  std::vector<double> out;
  out.reserve(run.size());
  for (const WorkCell& cell : run) out.push_back((cell.seconds - cell.work * sum.seconds / sum.work) / mean);
  return out;
}

double Autocovariance(const std::vector<double>& values, size_t lag) {
  double sum = 0;
  for (size_t i = lag; i < values.size(); ++i) sum += values[i] * values[i - lag];
  return sum / static_cast<double>(values.size());
}

// Sums of any consecutive cells of a circle in constant time.
class Circle {
 public:
  explicit Circle(const WorkRun& run) : sums_(1), size_(run.size()) {
    for (size_t i = 0; i < 2 * size_; ++i) {
      const WorkCell& cell = run[i % size_];
      sums_.push_back({sums_.back().seconds + cell.seconds, sums_.back().work + cell.work});
    }
  }
  WorkCell Block(size_t from, size_t length) const {
    const WorkCell &begin = sums_[from], &end = sums_[from + length];
    return {end.seconds - begin.seconds, end.work - begin.work};
  }

 private:
  std::vector<WorkCell> sums_;
  size_t size_;
};

// Deviations of the logarithm of the rate from that of the run, one a replicate.
std::vector<double> Resample(const WorkRun& run, std::mt19937_64& random) {
  const size_t length = BlockLength(run), size = run.size();
  const double blocks = static_cast<double>(size) / static_cast<double>(length);
  // Few blocks underrate their own spread: the usual correction of a variance and of its uncertainty.
  const double widen = StudentT95(blocks - 1) / kNormal95 * std::sqrt(blocks / (blocks - 1));
  const WorkCell whole = Sum(run);
  const double rate = std::log(whole.work / whole.seconds);
  const Circle circle(run);
  std::vector<double> out;
  out.reserve(kReplicates);
  while (out.size() < kReplicates) {
    WorkCell sum;
    for (size_t done = 0; done < size;) {
      const size_t take = std::min(length, size - done);
      const WorkCell block = circle.Block(random() % size, take);  // not by a distribution: those differ by library
      sum.seconds += block.seconds;
      sum.work += block.work;
      done += take;
    }
    const bool sound = sum.work > 0 && sum.seconds > 0;
    out.push_back(sound ? widen * (std::log(sum.work / sum.seconds) - rate) : 0.0);
  }
  return out;
}

double Quantile(std::vector<double>& values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Bounds WithinRuns(const WorkRun& before, const WorkRun& after, double log_ratio) {
  std::mt19937_64 random(kSeed);
  std::vector<double> left = Resample(before, random);
  const std::vector<double> right = Resample(after, random);
  for (size_t i = 0; i < left.size(); ++i) left[i] = right[i] - left[i];
  return {std::exp(log_ratio + Quantile(left, 0.025)), std::exp(log_ratio + Quantile(left, 0.975))};
}

double Variance(const std::vector<double>& values, double around) {
  double sum = 0;
  for (const double value : values) sum += (value - around) * (value - around);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

struct Side {
  std::vector<double> rates;  // logarithms, one a run
  double noise = 0;           // mean variance of such a logarithm by what happens inside a run
  double mean = 0, squares = 0;
};

Side Summarise(const std::vector<WorkRun>& runs) {
  Side side;
  std::mt19937_64 random(kSeed);
  for (const WorkRun& run : runs) {
    const WorkCell sum = Sum(run);
    side.rates.push_back(std::log(sum.work / sum.seconds));
    if (run.size() >= kFewestCells) side.noise += Variance(Resample(run, random), 0) / static_cast<double>(runs.size());
  }
  for (const double rate : side.rates) side.mean += rate / static_cast<double>(side.rates.size());
  side.squares = Variance(side.rates, side.mean) * static_cast<double>(side.rates.size());
  return side;
}

RatioEstimate BetweenRuns(const std::vector<WorkRun>& before, const std::vector<WorkRun>& after) {
  const Side left = Summarise(before), right = Summarise(after);
  const double log_ratio = right.mean - left.mean;
  const double degrees = static_cast<double>(before.size() + after.size()) - 2;
  const double pooled = (left.squares + right.squares) / degrees;
  const auto share = [&](const Side& side) {
    return std::max(pooled, side.noise) / static_cast<double>(side.rates.size());
  };
  const double half = StudentT95(degrees) * std::sqrt(share(left) + share(right));
  return {std::exp(log_ratio), Bounds{std::exp(log_ratio - half), std::exp(log_ratio + half)}, true};
}

bool Sound(const std::vector<WorkRun>& runs) {
  const auto sound = [](const WorkRun& run) {
    const WorkCell sum = Sum(run);
    return sum.work > 0 && sum.seconds > 0 && std::isfinite(sum.work / sum.seconds);
  };
  return !runs.empty() && std::all_of(runs.begin(), runs.end(), sound);
}

}  // namespace

double StudentT95(double degrees_of_freedom) {
  constexpr std::array<double, 5> kTable = {12.706, 4.303, 3.182, 2.776, 2.571};
  // Between whole numbers the lower one, which is the more careful.
  if (degrees_of_freedom < 6) return kTable[static_cast<size_t>(std::clamp(degrees_of_freedom, 1.0, 5.0)) - 1];
  const double z = kNormal95, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, v = degrees_of_freedom;
  // Abramowitz and Stegun 26.7.5: below 0.004 off from 6 degrees on.
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

size_t BlockLength(const WorkRun& run) {
  const size_t size = run.size();
  if (size < 8) return 1;
  // In a short run correlation hides in the noise: blocks of half a root cost an interval little and hold most of it.
  const auto least = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(size)) / 2));
  const std::vector<double> values = Residuals(run);
  const double variance = Autocovariance(values, 0);
  if (!(variance > kNoNoise)) return least;
  const auto count = static_cast<double>(size);
  const double noise = 2 * std::sqrt(std::log10(count) / count);
  const size_t quiet_needed = std::max<size_t>(5, static_cast<size_t>(std::sqrt(std::log10(count))));
  const size_t most = size / 4;
  size_t last = 0, quiet = 0;  // last lag with a correlation above noise before a quiet stretch
  for (size_t lag = 1; lag <= most && quiet < quiet_needed; ++lag) {
    const bool loud = std::fabs(Autocovariance(values, lag) / variance) > noise;
    quiet = loud ? 0 : quiet + 1;
    if (loud) last = lag;
  }
  if (last == 0) return least;
  const auto reach = static_cast<double>(std::min(2 * last, size - 1));
  double spectrum = variance, slope = 0;
  for (size_t lag = 1; static_cast<double>(lag) <= reach; ++lag) {
    const double at = static_cast<double>(lag) / reach;
    const double taper = at <= 0.5 ? 1 : 2 * (1 - at);
    const double covariance = taper * Autocovariance(values, lag);
    spectrum += 2 * covariance;
    slope += 2 * static_cast<double>(lag) * covariance;
  }
  const double best = spectrum > 0 ? std::cbrt(1.5 * slope * slope / (spectrum * spectrum) * count) : count;
  return std::clamp<size_t>(static_cast<size_t>(std::ceil(std::min(best, count))), least, most);
}

std::optional<RatioEstimate> EstimateRatio(const std::vector<WorkRun>& before, const std::vector<WorkRun>& after) {
  if (!Sound(before) || !Sound(after)) return std::nullopt;
  if (before.size() + after.size() > 2) return BetweenRuns(before, after);
  const WorkRun &left = before.front(), &right = after.front();
  const WorkCell a = Sum(left), b = Sum(right);
  RatioEstimate estimate;
  estimate.value = (b.work / b.seconds) / (a.work / a.seconds);
  if (left.size() >= kFewestCells && right.size() >= kFewestCells)
    estimate.bounds = WithinRuns(left, right, std::log(estimate.value));
  return estimate;
}

}  // namespace gpuwhy
