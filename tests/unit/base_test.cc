// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace gpuwhy {
namespace {

int CompareTexts(const char* a, const char* b) { return Compare(*ParseVersion(a), *ParseVersion(b)); }

TEST(Version, ReadsWhatDriversAndFrameworksPrint) {
  EXPECT_EQ(ParseVersion("580.159.04")->parts, (std::vector<int>{580, 159, 4}));
  EXPECT_EQ(ParseVersion(" v2.15.0+cu130\n")->parts, (std::vector<int>{2, 15, 0}));
  EXPECT_EQ(ParseVersion("2.11.0rc1")->parts, (std::vector<int>{2, 11, 0}));
  EXPECT_EQ(ParseVersion("12.")->minor(), 0);
  for (const char* bad : {"", "abc", ".5", "-1", "99999999999999999999"}) EXPECT_FALSE(ParseVersion(bad)) << bad;
}

TEST(Version, ComparesNumbersNotTexts) {
  EXPECT_LT(CompareTexts("525.60", "525.105"), 0);
  EXPECT_GT(CompareTexts("12.10", "12.9"), 0);
  EXPECT_EQ(CompareTexts("12", "12.0.0"), 0);
  EXPECT_LT(CompareTexts("12", "12.0.1"), 0);
}

TEST(Numbers, AreReadWholeOrNotAtAll) {
  EXPECT_EQ(ParseInt("-42"), -42);
  EXPECT_EQ(ParseInt("ff", 16), 255);
  for (const char* bad : {"", " 1", "1 ", "+1", "1x", "9223372036854775808"}) EXPECT_FALSE(ParseInt(bad)) << bad;
  EXPECT_EQ(ParseDouble("-0.25e2"), -25.0);
  for (const char* bad : {"", "nan", "inf", "1e999", "1,5", " 1", "1 "}) EXPECT_FALSE(ParseDouble(bad)) << bad;
}

TEST(Texts, LinesAndTrim) {
  EXPECT_EQ(Lines("a\r\n\nb").size(), 3U);
  EXPECT_EQ(Lines("a\r\n\nb")[0], "a");
  EXPECT_TRUE(Lines("").empty());
  EXPECT_EQ(Trim(" \t x y \r\n"), "x y");
  EXPECT_EQ(Split("a,,b", ',').size(), 3U);
}

TEST(JsonText, DeepNestingIsRefusedAndNoCrash) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(Json::Parse(nested(150)));
  const Result<Json> deep = Json::Parse(nested(100'000));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code, ErrorCode::kMalformed);
  EXPECT_FALSE(Json::Parse(std::string(1'000'000, '[')));
}

TEST(JsonText, BytesThatAreNoTextNeverReachTheOutput) {
  EXPECT_FALSE(Json::Parse("\"\xff\""));
  EXPECT_FALSE(Json::Parse("{\"a\":1} x"));
  EXPECT_FALSE(Json::Parse(""));
  Json json;
  json.Set("k\xff", "v\xc3");
  const Result<Json> back = Json::Parse(json.Dump());
  ASSERT_TRUE(back);
  EXPECT_EQ((*back)["k\xef\xbf\xbd"].AsString(), "v\xef\xbf\xbd");
}

TEST(JsonText, KeepsOrderIntegersAndWholeDoubles) {
  const std::string text = R"({"z":9007199254740993,"a":[1.0,-2,true,null],"m":{"x":"é"}})";
  ASSERT_TRUE(Json::Parse(text));
  EXPECT_EQ(Json::Parse(text)->Dump(), text);
  EXPECT_TRUE((*Json::Parse(text))["a"].AsArray()[0].is_double());
  EXPECT_EQ((*Json::Parse("[1e300]")).AsArray()[0].AsInt(-1), -1) << "no integer holds it";
}

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gpuwhy-file-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    unlink((folder_ + "/a").c_str());
    rmdir(folder_.c_str());
  }
  std::string folder_;
};

TEST(ReadFile, ReadsFilesWhoseSizeIsNotKnownBefore) {
  const Result<std::string> stat = ReadFile("/proc/self/stat");
  ASSERT_TRUE(stat);
  EXPECT_TRUE(Contains(*stat, std::to_string(getpid()) + " ("));
  EXPECT_EQ(ReadFile("/dev/zero", 1000)->size(), 1000U);
  EXPECT_EQ(ReadFile("/no/such/file").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(ReadFile("/proc/self"));
}

TEST_F(FileTest, ReplacesAFileAndLeavesNothingBeside) {
  const std::string path = folder_ + "/a";
  ASSERT_TRUE(WriteFile(path, "old"));
  ASSERT_TRUE(WriteFile(path, std::string(100'000, 'x'), 0600));
  EXPECT_EQ(ReadFile(path)->size(), 100'000U);
  EXPECT_EQ(ListFolder(folder_)->size(), 1U);
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(FileTest, WhatCannotBeWrittenIsAnErrorWithThePath) {
  const Result<void> full = WriteFile("/dev/full", "text");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kIo);
  EXPECT_TRUE(Contains(full.error().message, "/dev/full: No space left")) << full.error().message;
  EXPECT_EQ(WriteFile(folder_ + "/none/a", "x").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(WriteFile("/dev/null", "x")) << "a device is written into, not replaced";
  struct stat info {};
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

}  // namespace
}  // namespace gpuwhy
