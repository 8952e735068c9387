// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "model/metric.h"
#include "model/page.h"
#include "report/layout.h"
#include "report/text.h"

namespace gpuwhy::report {
namespace {

constexpr Language kEn = Language::kEnglish;
constexpr Language kZh = Language::kChinese;

std::string RenderText(const Report& report, const Options& options) {
  for (const Reporter* reporter : AllReporters()) {
    if (reporter->name == "text") return reporter->render(report, options);
  }
  return "";
}

// A cause without a page: the golden text then depends on nothing but this file and locale/.
Report SmallReport() {
  Report report;
  report.verdict = {GpuUsed::kNo, "made-up-cause", 0.95, "verdict.no", {}, "gpuwhy doctor"};
  report.witnesses.push_back({Source::kFramework, GpuUsed::kNo, "built without CUDA", {}, "ok", ""});
  report.witnesses.push_back({Source::kCuda, GpuUsed::kUnknown, "", {}, "unavailable", "no libcupti was found"});
  Finding finding;
  finding.id = "GW999";
  finding.cause = "made-up-cause";
  finding.severity = Severity::kError;
  finding.confidence = 0.95;
  finding.share_of_time = 0.43;
  finding.speedup = Speedup{1.2, 4.7, false};
  finding.evidence.push_back({"input.wait.ratio", Value::Of(0.43), "ratio", Source::kFramework, "line 12"});
  finding.evidence.push_back(
      {"gpu.power.watts", Value::Missing(State::kUnsupported, "N/A"), "watts", Source::kDriver, ""});
  report.findings.push_back(finding);
  report.gaps.push_back({"GPM", "needs a newer driver", "install 525 or newer"});
  report.breakdown = Breakdown{0.5, 0, 0.5, 0, 0, 0, 0, 0};
  return report;
}

constexpr std::string_view kGolden =
    R"(NO: this job does not use the GPU
  The job does not use the GPU.
  Cause: made-up-cause [made-up-cause]
  Confidence: high: the system itself says so, or it was measured
  (0.95)

What the witnesses say
  framework  no             built without CUDA
  CUDA       not available  no libcupti was found

Causes, by lost time
  1. [serious] made-up-cause (GW999 made-up-cause)
     made-up-cause
     lost time: 43 % of the steady state; speed-up if it were gone: at
     most 4.70x; confidence 0.95, high: the system itself says so, or
     it was measured
     Evidence:
       - time spent in the data loader: 43 % (says framework, line 12)
       - board power: not supported (N/A) (says driver)

Where the time of one GPU goes
  GPU computing            ████████████████▌                 50 %
  waiting for input        ████████████████▌                 50 %
  communication (exposed)                                    0 %
  copying (exposed)                                          0 %
  synchronising                                              0 %
  launching work                                             0 %
  writing checkpoints                                        0 %
  other                                                      0 %

What could not be seen, and how to see it
  - GPM: needs a newer driver
    How to see it: install 525 or newer

Next
  gpuwhy doctor
)";

TEST(TerminalReport, Golden) {
  Options options;
  options.width = 70;
  EXPECT_EQ(RenderText(SmallReport(), options), kGolden);
}

TEST(TerminalReport, ColoursOnlyWhenAskedAndNeverFromTheJob) {
  Report report = SmallReport();
  report.witnesses[0].says = "\033[31mred\007 \xC2\x9B";
  Options options;
  const std::string plain = RenderText(report, options);
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  EXPECT_NE(plain.find("?[31mred? ?"), std::string::npos);
  options.color = true;
  EXPECT_NE(RenderText(report, options).find("\033[1;31mNO:"), std::string::npos);
}

TEST(TerminalReport, ChineseStaysInsideTheWidth) {
  Options options;
  options.language = kZh;
  options.width = 60;
  options.verbose = true;
  const std::string text = RenderText(SmallReport(), options);
  EXPECT_EQ(text.rfind("否：该作业没有使用 GPU\n", 0), 0U);
  size_t at = 0;
  for (size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    EXPECT_LE(DisplayWidth(text.substr(at, end - at)), 60) << text.substr(at, end - at);
  }
}

TEST(Layout, WidthOfChineseIsTwo) {
  EXPECT_EQ(DisplayWidth("GPU"), 3);
  EXPECT_EQ(DisplayWidth("显存，"), 6);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1);
  EXPECT_EQ(DisplayWidth("\xFF"), 1);
}

TEST(Layout, WrapKeepsPunctuationAndLongWords) {
  EXPECT_EQ(Wrap("等待数据，然后", 8), (std::vector<std::string>{"等待数", "据，然后"}));
  EXPECT_EQ(Wrap("a bb  ccc", 4), (std::vector<std::string>{"a bb", "ccc"}));
  EXPECT_EQ(Wrap("x /a/very/long/path y", 5), (std::vector<std::string>{"x", "/a/very/long/path", "y"}));
  EXPECT_TRUE(Wrap("", 5).empty());
}

TEST(Layout, BadUtf8BecomesTheReplacement) {
  EXPECT_EQ(Printable("a\xFF\xC0\x80z"), "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(Printable("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Quantity, ReadsLikePeopleWrite) {
  EXPECT_EQ(ShowQuantity(0.43, "ratio"), "43 %");
  EXPECT_EQ(ShowQuantity(0.0432, "ratio"), "4.3 %");
  EXPECT_EQ(ShowQuantity(0.0001, "ratio"), "< 0.1 %");
  EXPECT_EQ(ShowQuantity(0, "ratio"), "0 %");
  EXPECT_EQ(ShowQuantity(143771.0 * 1048576, "bytes"), "140.4 GiB");
  EXPECT_EQ(ShowQuantity(12, "bytes"), "12 B");
  EXPECT_EQ(ShowQuantity(0.0021, "seconds"), "2.1 ms");
  EXPECT_EQ(ShowQuantity(90, "seconds"), "90 s");
  EXPECT_EQ(ShowQuantity(1.98e9, "hertz"), "1.98 GHz");
  EXPECT_EQ(ShowQuantity(64, "celsius"), "64 °C");
  EXPECT_EQ(ShowQuantity(123456, ""), "123456");
}

TEST(Text, EveryMetricHasALabelInBothLanguages) {
  for (const Metric& metric : Metrics()) {
    EXPECT_NE(KeyLabel(metric.name, kEn), metric.name);
    EXPECT_NE(KeyLabel(metric.name, kZh), metric.name);
  }
}

TEST(Text, FrameworkFactsShareOneLabel) {
  EXPECT_EQ(KeyLabel("framework.torch.version", kEn), "PyTorch version");
  EXPECT_EQ(KeyLabel("framework.torch.not_a_known_fact", kEn), "framework.torch.not_a_known_fact");
}

TEST(Text, PlaceholdersAreFilledAndNeverShown) {
  EXPECT_EQ(FillPlaceholders("{{a}} of {{b}}", {{"a", "1"}}), "1 of ?");
  EXPECT_EQ(FillPlaceholders("{{a", {}), "{{a");
  EXPECT_EQ(LocaleText("no.such.key", kEn), "no.such.key");
}

TEST(Text, UnknownIsAWordNotAZero) {
  EXPECT_EQ(ShowValue(Value::Missing(State::kNoPermission, "root only"), "watts", kEn), "not permitted (root only)");
  EXPECT_EQ(ShowValue(Value::Missing(State::kUnknown, ""), "watts", kZh), "未知");
  EXPECT_EQ(ShowValue(Value::Of(false), "", kEn), "no");
}

TEST(Text, SentencesBeginWithACapitalAndHaveNoBlankBetweenChineseCharacters) {
  Finding finding;
  finding.cause = "cuda-libs-missing";
  finding.params = {{"framework", "framework"}, {"cuda", "11"}, {"libraries", "@libraries.unnamed"}};
  EXPECT_NE(FindingSummary(finding, kEn).front(), 't');
  EXPECT_EQ(FindingSummary(finding, kZh).find("加载 日志"), std::string::npos);
}

TEST(Text, FixesOfOtherFrameworksAreLeftOut) {
  for (const RulePage& page : RulePages()) {
    Finding finding;
    finding.cause = page.name;
    const auto apple = std::count_if(page.en.fixes.begin(), page.en.fixes.end(),
                                     [](const PageFix& fix) { return fix.framework == "apple"; });
    const auto all = std::ssize(page.en.fixes);
    EXPECT_EQ(std::ssize(FindingFixes(finding, kEn)), all - apple) << page.name;
    finding.frameworks = {"pytorch", "any", "apple"};
    for (const Fix& fix : FindingFixes(finding, kEn)) EXPECT_NE(fix.framework, "apple") << page.name;
    if (apple > 0) {
      EXPECT_EQ(std::ssize(FindingFixes(finding, kEn)), apple) << page.name;
    }
    finding.frameworks = {"tensorflow"};
    for (const Fix& fix : FindingFixes(finding, kZh))
      EXPECT_TRUE(fix.framework == "tensorflow" || fix.framework == "any") << page.name;
  }
}

}  // namespace
}  // namespace gpuwhy::report
