// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "session/diagnose.h"
#include "unit/session_sample.h"

// Sessions recorded on real GPUs, in tests/fixtures/sessions/NAME.gpuwhy. expected.json beside them says which verdicts
// are right: {"NAME": {"gpu_used": ["yes"], "cause": ["pageable-copies", ...]}}. Each session is a test.
namespace gpuwhy {
namespace {

constexpr size_t kMostCuts = 40, kFewestCuts = 5;
constexpr size_t kCutBytes = 4'000'000;  // read in all cuts of one recording, about: some are large

std::string Folder() { return std::string(GPUWHY_SOURCE_DIR) + "/tests/fixtures/sessions"; }

Json ReadExpected() {
  const Result<std::string> text = ReadFile(Folder() + "/expected.json");
  if (!text) return Json(Json::Object{});
  const Result<Json> json = Json::Parse(*text);
  return json ? *json : Json();
}

std::vector<std::string> NamesOf(const Json& list) {
  std::vector<std::string> names;
  for (const Json& item : list.AsArray()) names.push_back(item.AsString());
  return names;
}

struct Recording {
  std::string name;
  std::vector<std::string> gpu_used, causes;
};

void PrintTo(const Recording& recording, std::ostream* out) { *out << recording.name; }

std::vector<Recording> Recordings() {
  std::vector<Recording> recordings;
  const Json all = ReadExpected();
  for (const auto& [name, expected] : all.AsObject()) {
    recordings.push_back({name, NamesOf(expected["gpu_used"]), NamesOf(expected["cause"])});
  }
  return recordings;
}

std::string TestName(const testing::TestParamInfo<Recording>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

class RecordedSession : public testing::TestWithParam<Recording> {
 protected:
  void SetUp() override {
    const std::string path = Folder() + "/" + GetParam().name + ".gpuwhy";
    Result<std::string> text = ReadFile(path);
    ASSERT_TRUE(text) << "expected.json names " << GetParam().name << ", but " << text.error().Line()
                      << "; record it or take it out of expected.json";
    text_ = std::move(*text);
  }
  static bool Among(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  std::string text_;
};

TEST_P(RecordedSession, GivesItsVerdict) {
  const Recording& expected = GetParam();
  ASSERT_FALSE(expected.gpu_used.empty() || expected.causes.empty())
      << "expected.json: \"gpu_used\" and \"cause\" are lists of names";
  const Result<Report> report = DiagnoseInput(text_, expected.name);
  ASSERT_TRUE(report) << report.error().Line();
  const std::string used(GpuUsedName(report->verdict.gpu_used));
  EXPECT_TRUE(Among(expected.gpu_used, used)) << used << " instead of " << Join(expected.gpu_used, " or ");
  EXPECT_TRUE(Among(expected.causes, report->verdict.cause))
      << report->verdict.cause << " instead of " << Join(expected.causes, " or ");
  EXPECT_GE(report->verdict.confidence, 0.5);
  if (report->breakdown) {
    const Breakdown& parts = *report->breakdown;
    EXPECT_NEAR(parts.input_wait + parts.copy + parts.gpu_compute + parts.communication + parts.launch + parts.sync +
                    parts.checkpoint + parts.other,
                1, 1e-9);
  }
  for (const Gap& gap : report->gaps) EXPECT_NE(gap.what, "a line of the session") << gap.why;
}

TEST_P(RecordedSession, GivesTheSameReportEachTime) {
  const Result<Report> first = DiagnoseInput(text_, "x");
  const Result<Report> second = DiagnoseInput(text_, "x");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(RenderJson(*first), RenderJson(*second));
}

// Whenever gpuwhy was killed: no crash, and never the opposite verdict. A job that worked at first and then fell idle
// was a "yes" until then and is "unknown" as a whole.
TEST_P(RecordedSession, ACutNeverTurnsTheVerdictRound) {
  const Result<Report> whole = DiagnoseInput(text_, "x");
  ASSERT_TRUE(whole);
  const size_t cuts = std::clamp(2 * kCutBytes / (text_.size() + 1), kFewestCuts, kMostCuts);
  for (size_t cut = 1; cut <= cuts; ++cut) {
    const size_t size = std::max<size_t>(200, text_.size() / (cuts + 1) * cut + cut % 7);
    const Result<Report> report = DiagnoseInput(std::string_view(text_).substr(0, size), "x");
    ASSERT_TRUE(report) << size;
    const GpuUsed used = report->verdict.gpu_used;
    const bool idle_later = whole->verdict.gpu_used == GpuUsed::kUnknown && used == GpuUsed::kYes;
    EXPECT_TRUE(used == GpuUsed::kUnknown || used == whole->verdict.gpu_used || idle_later)
        << GpuUsedName(used) << " (" << report->verdict.cause << ") after " << size << " of " << text_.size()
        << " bytes, " << GpuUsedName(whole->verdict.gpu_used) << " after all";
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RecordedSession);
INSTANTIATE_TEST_SUITE_P(Recorded, RecordedSession, testing::ValuesIn(Recordings()), TestName);

TEST(RecordedSessions, EveryRecordingHasAnExpectedVerdict) {
  EXPECT_TRUE(ReadExpected().is_object()) << Folder() << "/expected.json is no JSON object";
  const Result<std::vector<std::string>> files = ListFolder(Folder());
  if (!files) return;  // no recording yet: nothing is expected either
  const Json expected = ReadExpected();
  for (const std::string& file : *files) {
    const size_t dot = file.rfind(".gpuwhy");
    if (dot == std::string::npos || dot + 7 != file.size()) continue;
    EXPECT_TRUE(expected[file.substr(0, dot)].is_object()) << file << " stands in no line of expected.json";
  }
}

}  // namespace
}  // namespace gpuwhy
