// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_ENGINE_TREND_H_
#define GPUWHY_ENGINE_TREND_H_

#include <optional>

#include "model/evidence.h"

namespace gpuwhy {

// A quantity that rises and goes on rising.
struct Rise {
  double amount = 0;      // from the middle of the first quarter to the middle of the last, in the series' unit
  double per_second = 0;  // median slope between quarters
};

// A rise in [from_s, to_s] that is steady: of at least eight points the medians of the four quarters rise one after the
// other, each with at least a third of the whole slope and the last with two thirds of it (what levels off, such as
// caches that fill, is none), and the points scatter around the trend by less than half of the rise. Nothing otherwise.
std::optional<Rise> SteadyRise(const Series& series, double from_s, double to_s);

}  // namespace gpuwhy

#endif  // GPUWHY_ENGINE_TREND_H_
