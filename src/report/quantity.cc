// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/format.h"
#include "report/reporter.h"

namespace gpuwhy::report {
namespace {

struct Scale {
  double factor;
  const char* symbol;
};

constexpr Scale kBytes[] = {{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}};
constexpr Scale kDecimal[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
constexpr Scale kTime[] = {{3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};

// One decimal below 100 ("2.1"), none above ("640"), no ".0".
std::string Short(double value) {
  const double tenth = std::round(value * 10) / 10;
  if (std::fabs(tenth) >= 100 || tenth == std::floor(tenth)) return Format("{:.0f}", value);
  return Format("{:.1f}", tenth);
}

template <size_t kCount>
std::string Scaled(double value, const Scale (&scales)[kCount], std::string_view base, bool decimals = false) {
  for (const Scale& scale : scales) {
    if (std::fabs(value) < scale.factor) continue;
    const double number = value / scale.factor;
    return Format("{} {}{}", decimals ? Format("{:.3g}", number) : Short(number), scale.symbol, base);
  }
  return Format("{} {}", Short(value), base);
}

std::string ShowRatio(double value) {
  const double percent = value * 100;
  if (percent != 0 && std::fabs(percent) < 0.1) return "< 0.1 %";
  if (std::fabs(percent) >= 10) return Format("{:.0f} %", percent);
  return Format("{} %", Short(percent));
}

std::string ShowBytes(double value, std::string_view suffix) {
  for (const Scale& scale : kBytes) {
    if (std::fabs(value) < scale.factor) continue;
    const double number = value / scale.factor;
    return Format("{:.1f} {}{}", number, scale.symbol, suffix);
  }
  return Format("{:.0f} B{}", value, suffix);
}

std::string ShowSeconds(double value) {
  if (value == 0) return "0 s";
  // Two minutes are more readable as 120 s; hours and days are not.
  for (const Scale& scale : kTime) {
    const double from = scale.factor > 1 ? scale.factor * 2 : scale.factor;
    if (std::fabs(value) >= from) return Format("{} {}", Short(value / scale.factor), scale.symbol);
  }
  return "< 1 ns";
}

// A bare number: whole ones without an exponent, others with four significant digits.
std::string ShowPlain(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return Format("{:.0f}", value);
  return std::fabs(value) >= 1000 ? Format("{:.0f}", value) : Format("{:.4g}", value);
}

}  // namespace

std::string ShowQuantity(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "?";
  if (unit == "ratio") return ShowRatio(value);
  if (unit == "bytes") return ShowBytes(value, "");
  if (unit == "bytes_per_second") return ShowBytes(value, "/s");
  if (unit == "seconds") return ShowSeconds(value);
  if (unit == "hertz") return Scaled(value, kDecimal, "Hz", true);
  if (unit == "joules") return Scaled(value, kDecimal, "J");
  if (unit == "watts") return Format("{:.0f} W", value);
  if (unit == "celsius") return Format("{:.0f} °C", value);
  return unit.empty() ? ShowPlain(value) : Format("{} {}", ShowPlain(value), unit);
}

}  // namespace gpuwhy::report
