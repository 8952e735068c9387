// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "engine/engine.h"
#include "session/diagnose.h"
#include "session/recorder.h"
#include "session/session_file.h"
#include "unit/session_sample.h"

namespace gpuwhy {
namespace {

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gpuwhy-session-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/a.gpuwhy";
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  std::unique_ptr<Recorder> Record() {
    Result<std::unique_ptr<SessionWriter>> writer = SessionWriter::Create(path_, 1'700'000'000'000'000'000, 42);
    EXPECT_TRUE(writer) << writer.error().Line();
    return std::make_unique<Recorder>(writer ? std::move(*writer) : nullptr);
  }
  std::string Text() const {
    const Result<std::string> text = ReadFile(path_);
    return text ? *text : "";
  }
  // The text of a recorded sample job.
  std::string SampleText() {
    const std::unique_ptr<Recorder> recorder = Record();
    SampleJob(*recorder).Push();
    recorder->Flush();
    return Text();
  }

  std::string folder_, path_;
};

std::string HeaderLine(const std::string& schema = "gpuwhy.session/1") {
  return Format("{{\"schema\":\"{}\",\"started\":\"2026-01-31T12:00:00.000Z\",\"version\":\"0.0.1\"}}\n", schema);
}

struct Reading {
  Evidence evidence;
  SessionInfo info;
};

Reading Read(std::string_view text) {
  Reading reading;
  const Result<SessionInfo> info = ReadSession(text, reading.evidence);
  EXPECT_TRUE(info) << info.error().Line();
  if (info) reading.info = *info;
  return reading;
}

auto Fields(const Evidence& evidence, const Span& span) {
  return std::tuple(span.kind, span.pid, span.device, span.start_ns, span.duration_ns, span.lane,
                    evidence.Name(span.name), span.bytes, span.detail[0], span.detail[1], span.detail[2]);
}

auto SortedSpans(const Evidence& evidence) {
  std::vector<decltype(Fields(evidence, Span{}))> out;
  for (const Span& span : evidence.spans()) out.push_back(Fields(evidence, span));
  std::sort(out.begin(), out.end());
  return out;
}

TEST_F(SessionTest, ReplayGivesTheReportOfTheRun) {
  const std::unique_ptr<Recorder> recorder = Record();
  SampleJob(*recorder).Push();
  recorder->Flush();
  const std::string live = RenderJson(Diagnose(recorder->evidence()));
  EXPECT_TRUE(Contains(live, "\"gpu_used\": \"yes\"")) << live;
  EXPECT_TRUE(Contains(live, "\"cause\": \"input-pipeline-bound\"")) << live;
  const Result<Report> report = DiagnoseFile(path_);
  ASSERT_TRUE(report) << report.error().Line();
  EXPECT_EQ(RenderJson(*report), live);
}

// A run flushes once a second: how the evidence falls into lines must not matter.
TEST_F(SessionTest, FlushesInBetweenChangeNothing) {
  class Flushing : public Recorder {
   public:
    using Recorder::Recorder;
    void Add(const StepMark& mark) override {
      Recorder::Add(mark);
      if (mark.index % 7 == 0) Flush();
    }
    using Recorder::Add;
  };
  Result<std::unique_ptr<SessionWriter>> writer = SessionWriter::Create(path_, 0, 0);
  ASSERT_TRUE(writer);
  Flushing recorder(std::move(*writer));
  SampleJob(recorder).Push();
  recorder.Flush();
  const Result<Report> report = DiagnoseFile(path_);
  ASSERT_TRUE(report);
  EXPECT_EQ(RenderJson(*report), RenderJson(Diagnose(recorder.evidence())));
}

TEST_F(SessionTest, EveryFieldComesBack) {
  const std::unique_ptr<Recorder> recorder = Record();
  SampleJob(*recorder).Push();
  recorder->Flush();
  const Evidence& live = recorder->evidence();
  const Reading back = Read(Text());
  EXPECT_EQ(back.info.started, "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(back.info.bad_lines, 0U);
  EXPECT_FALSE(back.info.torn);
  EXPECT_EQ(back.info.lines, Lines(Text()).size());
  EXPECT_EQ(back.evidence.gaps(), live.gaps());
  ASSERT_EQ(back.evidence.steps().size(), live.steps().size());
  for (size_t i = 0; i < live.steps().size(); ++i) {
    const StepMark &a = live.steps()[i], &b = back.evidence.steps()[i];
    EXPECT_EQ(std::tie(a.pid, a.time_ns, a.index, a.wait_ns, a.save_ns, a.items, a.hook_ns),
              std::tie(b.pid, b.time_ns, b.index, b.wait_ns, b.save_ns, b.items, b.hook_ns));
  }
  ASSERT_EQ(back.evidence.host_samples().size(), live.host_samples().size());
  for (size_t i = 0; i < live.host_samples().size(); ++i) {
    const HostSample &a = live.host_samples()[i], &b = back.evidence.host_samples()[i];
    EXPECT_EQ(std::tie(a.pid, a.time_ns, a.category), std::tie(b.pid, b.time_ns, b.category));
    EXPECT_EQ(a.name == 0, b.name == 0);
  }
  for (const Fact* fact : live.WithPrefix("")) {
    const Fact* other = back.evidence.Find(fact->name, fact->entity);
    ASSERT_NE(other, nullptr) << fact->name;
    EXPECT_EQ(other->value.state, fact->value.state) << fact->name;
    EXPECT_EQ(other->value.why, fact->value.why) << fact->name;
    EXPECT_EQ(other->source, fact->source) << fact->name;
    EXPECT_EQ(other->time_s, fact->time_s) << fact->name;
    if (fact->name == "job.command") continue;  // it has a byte that is no text
    EXPECT_EQ(other->value.scalar, fact->value.scalar) << fact->name;
  }
  const Series& watts = back.evidence.Samples("gpu.power.watts", Entity::Gpu("GPU-1"));
  ASSERT_EQ(watts.size(), 62U) << "two readings of one moment are two readings";
  EXPECT_EQ(watts[1].value, 203.7);
}

TEST_F(SessionTest, SpansComeBackWithTheirNames) {
  const std::unique_ptr<Recorder> recorder = Record();
  for (const char* name : {"a kernel", "another", "a kernel"}) {
    for (int64_t i = 0; i < 700; ++i) {  // more than fit in one line
      Span span{SpanKind::kKernel,           9, 1'000'000 - i * 10,     i,
                static_cast<int32_t>(i % 3), 4, recorder->Intern(name), ~uint64_t{0}};
      span.detail[2] = UINT32_MAX;
      recorder->Add(span);
    }
  }
  recorder->Flush();
  EXPECT_EQ(SortedSpans(Read(Text()).evidence), SortedSpans(recorder->evidence()));
}

TEST_F(SessionTest, BytesThatAreNoTextDoNotBreakTheFile) {
  const std::unique_ptr<Recorder> recorder = Record();
  const std::string bad = "ker\xffnel\n\x01\xc3";
  recorder->Add(Span{SpanKind::kKernel, 1, 5, 6, 0, 0, recorder->Intern(bad)});
  recorder->AddFact("framework.na\xfeme", Entity::Process(1), Value::Of(StringList{bad, "\xe7\x8c\xab"}),
                    Source::kFramework, bad);
  recorder->Add(Sample{"met\xffric", Entity::Gpu("GPU-\xff"), 1, 2});
  recorder->Add(Gap{bad, bad, bad});
  recorder->Flush();
  const Reading back = Read(Text());
  EXPECT_EQ(back.info.bad_lines, 0U);
  ASSERT_EQ(back.evidence.spans().size(), 1U);
  EXPECT_EQ(back.evidence.Name(back.evidence.spans()[0].name), "ker\xef\xbf\xbdnel\n\x01\xef\xbf\xbd");
  const Fact* fact = back.evidence.Find("framework.na\xef\xbf\xbdme");
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->value.AsList()->at(1), "\xe7\x8c\xab");
  EXPECT_EQ(back.evidence.gaps().size(), 1U);
}

TEST_F(SessionTest, ANumberThatIsNoneComesBackAsUnknown) {
  const std::unique_ptr<Recorder> recorder = Record();
  recorder->AddFact("a", Entity::Host(), Value::Of(std::numeric_limits<double>::quiet_NaN()), Source::kOs);
  recorder->Add(Sample{"b", Entity::Host(), 1, std::numeric_limits<double>::infinity()});
  recorder->Flush();
  const Reading back = Read(Text());
  ASSERT_NE(back.evidence.Find("a"), nullptr);
  EXPECT_EQ(back.evidence.Find("a")->value.state, State::kUnknown);
  EXPECT_TRUE(back.evidence.Samples("b", Entity::Host()).empty());
}

TEST_F(SessionTest, TheFileIsPrivate) {
  Record();
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(SessionReader, ATornLastLineIsToleratedAndSaid) {
  const std::string whole = HeaderLine() + "{\"k\":\"fact\",\"n\":\"a\",\"v\":1}\n";
  const Reading back = Read(whole + "{\"k\":\"fact\",\"n\":\"b\",\"v");
  EXPECT_TRUE(back.info.torn);
  EXPECT_EQ(back.info.bad_lines, 0U);
  EXPECT_EQ(back.info.lines, 2U);
  EXPECT_EQ(back.evidence.Int("a"), 1);
  ASSERT_EQ(back.evidence.gaps().size(), 1U);
  EXPECT_TRUE(Contains(back.evidence.gaps()[0].why, "line 3 is cut"));
  EXPECT_FALSE(Read(whole).info.torn);
  EXPECT_FALSE(Read(whole + "{\"k\":\"fact\",\"n\":\"b\",\"v\":2}").info.torn) << "whole but for its line end";
}

TEST(SessionReader, BadLinesAreCountedAndTheRestIsRead) {
  std::string text = HeaderLine();
  for (int i = 0; i < 30; ++i) text += "not json\n";
  for (const char* line :
       {"[]", "{\"k\":\"fact\"}", "{\"k\":\"samples\",\"v\":3}", "{\"k\":\"spans\",\"kind\":99}", "{\"k\":\"new\"}",
        "{\"k\":\"spans\",\"kind\":0,\"rows\":[[1,2]]}", "{\"k\":\"steps\",\"rows\":[[1]]}",
        "{\"k\":\"host\",\"rows\":[3]}",
        "{\"k\":\"spans\",\"kind\":0,\"rows\":[[9223372036854775807,9223372036854775807,0,0,0,0,0,0]]}",
        "{\"k\":\"spans\",\"kind\":0,\"rows\":[[1,-1,0,0,0,0,0,0]]}",
        "{\"k\":\"steps\",\"rows\":[[-9223372036854775808,1,1,1,1,1]]}"}) {
    text += std::string(line) + "\n";
  }
  const Reading back = Read(text + "{\"k\":\"fact\",\"n\":\"a\",\"v\":1}\n");
  EXPECT_EQ(back.info.bad_lines, 41U);
  EXPECT_EQ(back.info.lines, 2U);
  EXPECT_EQ(back.evidence.Int("a"), 1);
  EXPECT_TRUE(back.evidence.spans().empty());
  EXPECT_TRUE(back.evidence.steps().empty());
  EXPECT_EQ(back.evidence.gaps().size(), 20U) << "the first twenty are named";
}

TEST(SessionReader, AForeignSchemaIsRefused) {
  Evidence evidence;
  const Result<SessionInfo> newer = ReadSession(HeaderLine("gpuwhy.session/2"), evidence);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::kMalformed);
  EXPECT_TRUE(Contains(newer.error().Line(), "\"gpuwhy.session/2\", this program reads \"gpuwhy.session/1\"; "));
  for (const char* text : {"", "\n", "{}", "[1,2]", "garbage", "{\"schema\":3}"})
    EXPECT_FALSE(ReadSession(text, evidence)) << text;
}

TEST_F(SessionTest, NoPlaceForTheFileIsAnError) {
  const Result<std::unique_ptr<SessionWriter>> none = SessionWriter::Create(folder_ + "/no/such/a.gpuwhy", 0, 0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(Contains(none.error().message, "/no/such/a.gpuwhy"));
  const Result<std::unique_ptr<SessionWriter>> full = SessionWriter::Create("/dev/full", 0, 0);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kIo);
  EXPECT_TRUE(Contains(full.error().message, "No space left")) << full.error().message;
}

// Lowers the size that files of this process may have while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &old_);
    old_handler_ = signal(SIGXFSZ, SIG_IGN);  // as gpuwhy itself does while it watches
    const rlimit lower{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  sighandler_t old_handler_ = SIG_DFL;
};

TEST_F(SessionTest, AFullDiskBecomesAGapAndTheRunGoesOn) {
  const std::unique_ptr<Recorder> recorder = Record();
  {
    const FileSizeLimit limit(20'000);
    SampleJob(*recorder).Push();
    recorder->Flush();
    EXPECT_FALSE(recorder->recording());
  }
  ASSERT_FALSE(recorder->evidence().gaps().empty());
  const Gap gap = recorder->evidence().gaps().back();
  EXPECT_EQ(gap.what, "the session file");
  EXPECT_TRUE(Contains(gap.why, path_ + " is incomplete: File too large")) << gap.why;
  recorder->AddFact("late", Entity::Host(), Value::Of(true), Source::kOs);
  recorder->Flush();
  EXPECT_EQ(recorder->evidence().Bool("late"), true);
  EXPECT_EQ(recorder->evidence().gaps().back(), gap) << "said once";
  EXPECT_EQ(Diagnose(recorder->evidence()).verdict.gpu_used, GpuUsed::kYes);
  const Reading back = Read(Text());
  EXPECT_EQ(Text().size(), 20'000U) << "what was written before stays";
  EXPECT_EQ(back.info.bad_lines, 0U);
  EXPECT_GT(back.info.lines, 15U);
}

TEST(Recorder, WithoutAFileItHoldsTheEvidence) {
  Recorder recorder(nullptr);
  SampleJob(recorder).Push();
  recorder.Flush();
  EXPECT_FALSE(recorder.recording());
  EXPECT_EQ(Diagnose(recorder.evidence()).verdict.gpu_used, GpuUsed::kYes);
  for (const Gap& gap : recorder.evidence().gaps()) EXPECT_NE(gap.what, "the session file");
}

TEST_F(SessionTest, FactsThatDidNotChangeAreWrittenOnce) {
  const std::unique_ptr<Recorder> recorder = Record();
  for (int64_t i = 0; i < 50; ++i)
    recorder->AddFact("a", Entity::Host(), Value::Of(i / 25), Source::kOs, "", static_cast<double>(i));
  recorder->Flush();
  EXPECT_EQ(Lines(Text()).size(), 3U);
}

// Wherever the recorder was killed: no crash, and the verdict is that of the whole file or an honest "unknown".
TEST_F(SessionTest, ACutFileNeverChangesTheVerdict) {
  const std::string text = SampleText();
  ASSERT_GT(text.size(), 20'000U);
  const Result<Report> whole = DiagnoseInput(text, "x");
  ASSERT_TRUE(whole);
  size_t same = 0;
  for (size_t size = 997; size < text.size(); size += 997) {
    const Result<Report> cut = DiagnoseInput(std::string_view(text).substr(0, size), "x");
    ASSERT_TRUE(cut) << size;
    const GpuUsed used = cut->verdict.gpu_used;
    EXPECT_TRUE(used == whole->verdict.gpu_used || used == GpuUsed::kUnknown) << GpuUsedName(used) << " at " << size;
    same += used == whole->verdict.gpu_used ? 1 : 0;
  }
  EXPECT_GT(same, 0U);
}

// Damaged digits, brackets and quotes: whatever comes out, nothing overflows or reads beyond (sanitizers).
TEST_F(SessionTest, DamagedBytesDoNoHarm) {
  const std::string text = SampleText();
  std::mt19937 random(20260131);
  constexpr std::string_view kBytes = "0123456789-e.[]{},\":\n\xff";
  for (int round = 0; round < 60; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 40; ++i) damaged[200 + random() % (damaged.size() - 200)] = kBytes[random() % kBytes.size()];
    // Whole numbers grow to the ends of their type.
    if (round % 3 == 0) {
      const size_t at = damaged.find('[', 200 + random() % (damaged.size() - 400));
      if (at != std::string::npos)
        damaged.insert(at + 1,
                       round % 2 == 0 ? "-9223372036854775808,9223372036854775807," : "1e300,18446744073709551615,");
    }
    const Result<Report> report = DiagnoseInput(damaged, "x");
    EXPECT_TRUE(!report || !RenderJson(*report).empty());
  }
}

}  // namespace
}  // namespace gpuwhy
