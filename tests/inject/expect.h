// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_INJECT_EXPECT_H_
#define GPUWHY_TESTS_INJECT_EXPECT_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "job_runner.h"

namespace gpuwhy::inject_test {

using Words = std::vector<std::string>;

inline bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Every test ends with this: the strict fake saw nothing forbidden.
inline void ExpectClean(const JobRunner& job) { EXPECT_FALSE(Has(job.Log(), "violation")) << job.Log(); }

}  // namespace gpuwhy::inject_test
#endif  // GPUWHY_TESTS_INJECT_EXPECT_H_
