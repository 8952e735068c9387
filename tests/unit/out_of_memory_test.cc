// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/out_of_memory.h"

#include <gtest/gtest.h>

namespace gpuwhy {
namespace {

constexpr double kMebibyte = 1048576, kGibibyte = 1024 * kMebibyte;

MemorySize Size(const char* text) { return {ParseBytes(text).value_or(-1), text}; }

OutOfMemory Failure(const char* tried, const char* total, const char* free, const char* allocated,
                    const char* reserved) {
  OutOfMemory failure;
  failure.tried = Size(tried);
  failure.total = Size(total);
  failure.free = Size(free);
  failure.allocated = Size(allocated);
  failure.reserved = Size(reserved);
  return failure;
}

TEST(OutOfMemory, ReadsSizesInEveryUnitThatMessagesUse) {
  EXPECT_DOUBLE_EQ(*ParseBytes("12.50 MiB"), 12.5 * kMebibyte);
  EXPECT_DOUBLE_EQ(*ParseBytes("3.37GiB"), 3.37 * kGibibyte);
  EXPECT_DOUBLE_EQ(*ParseBytes("512 KiB"), 524288);
  EXPECT_DOUBLE_EQ(*ParseBytes("0 bytes"), 0);
  EXPECT_DOUBLE_EQ(*ParseBytes("4770354232"), 4770354232);
  EXPECT_DOUBLE_EQ(*ParseBytes("1.5T"), 1536 * kGibibyte);
  EXPECT_FALSE(ParseBytes("").has_value());
  EXPECT_FALSE(ParseBytes("many MiB").has_value());
  EXPECT_FALSE(ParseBytes("12 parsecs").has_value());
}

TEST(OutOfMemory, SumsUpWhatOthersHold) {
  const OutOfMemory failure = Failure("60.00 MiB", "11.17 GiB", "12.50 MiB", "505.96 MiB", "530.00 MiB");
  EXPECT_NEAR(failure.foreign() / kGibibyte, 10.64, 0.005);
  EXPECT_NEAR(failure.unallocated() / kMebibyte, 24.04, 0.005);
  EXPECT_EQ(CauseOf(failure), MemoryCause::kForeign);
  EXPECT_EQ(ShowBytes(failure.foreign()), "10.6 GiB");
  EXPECT_EQ(ShowBytes(530 * kMebibyte), "530 MiB");
}

TEST(OutOfMemory, TakesTheWholeUseOfTheProcessWhereItIsTold) {
  OutOfMemory failure = Failure("2.00 GiB", "15.90 GiB", "0.50 GiB", "9.00 GiB", "9.50 GiB");
  EXPECT_EQ(CauseOf(failure), MemoryCause::kForeign);  // 5.9 GiB beside the allocator
  failure.mine = Size("15.20 GiB");                    // that turn out to be its own, of another library
  EXPECT_EQ(CauseOf(failure), MemoryCause::kTooBig);
  EXPECT_NEAR(failure.foreign() / kGibibyte, 0.2, 0.005);
}

TEST(OutOfMemory, LeavesAContextToTheProcess) {
  EXPECT_EQ(CauseOf(Failure("512.00 MiB", "8.00 GiB", "100.00 MiB", "6.50 GiB", "6.80 GiB")), MemoryCause::kTooBig);
  EXPECT_EQ(CauseOf(Failure("512.00 MiB", "4.00 GiB", "100.00 MiB", "2.50 GiB", "2.60 GiB")), MemoryCause::kTooBig);
}

TEST(OutOfMemory, CallsPiecesFragmentationOnlyIfTheyWouldHaveBeenEnough) {
  EXPECT_EQ(CauseOf(Failure("1.20 GiB", "15.78 GiB", "0.30 GiB", "9.80 GiB", "14.50 GiB")), MemoryCause::kFragmented);
  EXPECT_EQ(CauseOf(Failure("6.00 GiB", "15.78 GiB", "0.30 GiB", "9.80 GiB", "14.50 GiB")), MemoryCause::kTooBig);
  EXPECT_EQ(CauseOf(Failure("20.00 MiB", "15.78 GiB", "10.00 MiB", "14.40 GiB", "14.50 GiB")), MemoryCause::kTooBig);
}

TEST(OutOfMemory, RefusesAVerdictWhereTheNumbersContradict) {
  EXPECT_EQ(CauseOf(Failure("12.50 MiB", "10.92 GiB", "9.28 GiB", "8.57 MiB", "13.25 MiB")), MemoryCause::kContradicts);
  OutOfMemory failure = Failure("8.00 MiB", "139.80 GiB", "137.75 GiB", "1.38 GiB", "1.39 GiB");
  EXPECT_EQ(CauseOf(failure), MemoryCause::kContradicts);
  failure.allowed = Size("1.40 GiB");
  EXPECT_EQ(CauseOf(failure), MemoryCause::kLimit);
  EXPECT_EQ(CauseOf(OutOfMemory{}), MemoryCause::kUnknown);
}

TEST(OutOfMemory, CallsARequestLargerThanTheGpuTooBig) {
  const OutOfMemory failure = Failure("112.89 GiB", "79.14 GiB", "38.59 GiB", "8.27 GiB", "8.76 GiB");
  EXPECT_GT(failure.foreign(), 30 * kGibibyte);  // others hold much, and it would not fit without them either
  EXPECT_EQ(CauseOf(failure), MemoryCause::kTooBig);
}

}  // namespace
}  // namespace gpuwhy
