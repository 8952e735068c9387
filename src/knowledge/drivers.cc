// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "knowledge/drivers.h"

#include "knowledge/numbers.h"

namespace gpuwhy::knowledge {
namespace {

// Windows drivers count on inside a branch by this much at most (538 belongs to 535, 399 to 396, 429 to 418).
constexpr int kLongestBranch = 12;
constexpr int kMinorCompatibilitySince = 11;

}  // namespace

const DriverBranch* BranchOfDriver(std::string_view driver) {
  const std::optional<Numbers> version = ParseNumbers(driver);
  const DriverBranch* found = nullptr;
  if (!version) return nullptr;
  for (const DriverBranch& branch : DriverBranches()) {
    if (branch.branch <= (*version)[0]) found = &branch;
  }
  const bool newest = found != nullptr && found == &DriverBranches().back();
  // Behind the newest known branch there may be one that the table does not know yet.
  return newest && (*version)[0] - found->branch > kLongestBranch / 3 ? nullptr : found;
}

std::string CudaOfNumber(int64_t number) {
  constexpr int64_t kLeast = 1000,
                    kMost = 100000;  // CUDA 1.0 is 1000; a driver's branch such as 535 is no CUDA version
  if (number < kLeast || number >= kMost) return "";
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::optional<int> CompareVersions(std::string_view a, std::string_view b) {
  const std::optional<Numbers> left = ParseNumbers(a), right = ParseNumbers(b);
  if (!left || !right) return std::nullopt;
  return *left < *right ? -1 : *left > *right ? 1 : 0;
}

std::optional<bool> DriverRuns(std::string_view offered, std::string_view built) {
  const std::optional<Numbers> driver = ParseNumbers(offered), program = ParseNumbers(built);
  if (!driver || !program) return std::nullopt;
  if ((*program)[0] >= kMinorCompatibilitySince) return (*driver)[0] >= (*program)[0];
  return Numbers{(*driver)[0], (*driver)[1]} >= Numbers{(*program)[0], (*program)[1]};
}

std::string_view OldestDriverFor(std::string_view cuda, bool windows) {
  const std::optional<Numbers> wanted = ParseNumbers(cuda);
  if (!wanted) return "";
  for (const MinimumDriver& row : MinimumDrivers()) {
    if (row.cuda_major == (*wanted)[0]) return windows ? row.first_windows : row.first_linux;
  }
  for (const DriverBranch& row : DriverBranches()) {
    const std::optional<Numbers> offers = ParseNumbers(row.cuda);
    const std::string_view first = windows ? row.first_windows : row.first_linux;
    if (offers && (*offers)[0] == (*wanted)[0] && (*offers)[1] == (*wanted)[1] && !first.empty()) return first;
  }
  return "";
}

}  // namespace gpuwhy::knowledge
