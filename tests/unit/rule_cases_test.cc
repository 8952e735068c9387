// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/rule.h"
#include "engine/text_facts.h"
#include "unit/case_file.h"

// Every block of tests/rules/*.case runs one rule, every block of tests/verdict/*.case the whole diagnosis: each is a
// test.
namespace gpuwhy {

void PrintTo(const CaseBlock& block, std::ostream* out) {
  *out << block.file << ":" << block.line << " " << block.name;
}

namespace {

std::vector<CaseBlock> BlocksOf(const std::string& folder) {
  std::vector<CaseBlock> blocks;
  const std::string path = std::string(GPUWHY_SOURCE_DIR) + "/tests/" + folder;
  const Result<std::vector<std::string>> names = ListFolder(path);
  if (!names) return blocks;
  for (const std::string& name : *names) {
    if (name.size() < 6 || name.substr(name.size() - 5) != ".case") continue;
    const Result<std::string> text = ReadFile(path + "/" + name);
    for (CaseBlock& block : ReadCaseBlocks(text ? *text : "", folder + "/" + name)) blocks.push_back(std::move(block));
  }
  return blocks;
}

std::string StemOf(const CaseBlock& block) {
  const size_t slash = block.file.find('/') + 1;
  return block.file.substr(slash, block.file.size() - slash - 5);
}

std::string TestName(const testing::TestParamInfo<CaseBlock>& info) {
  std::string name = StemOf(info.param) + "_" + info.param.kind + "_" + info.param.name;
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return Format("{}_{}", name, info.param.line);
}

const Rule* RuleOfStem(std::string stem) {
  std::replace(stem.begin(), stem.end(), '_', '-');
  for (const Rule* rule : AllRules()) {
    if (rule->name == stem) return rule;
  }
  return nullptr;
}

// One expectation against one number or word; "" when it holds.
std::string Compare(const Expectation& expected, const std::string& word, std::optional<double> number) {
  const std::string wanted = expected.key + expected.comparison + expected.value;
  const std::optional<double> limit = ParseDouble(expected.value);
  if (expected.comparison == "=" && !(limit && number))
    return word == expected.value ? "" : Format("expected {}, got {}", wanted, word);
  if (!number || !limit) return Format("expected {}, got no number ({})", wanted, word);
  const double slack = 1e-6;
  const bool holds = expected.comparison == "="    ? std::abs(*number - *limit) < 1e-3
                     : expected.comparison == ">=" ? *number >= *limit - slack
                                                   : *number <= *limit + slack;
  return holds ? "" : Format("expected {}, got {}", wanted, *number);
}

std::string CompareFinding(const Expectation& expected, const Finding& finding) {
  if (expected.key == "severity") return Compare(expected, std::string(SeverityName(finding.severity)), std::nullopt);
  if (expected.key == "confidence") return Compare(expected, "", finding.confidence);
  if (expected.key == "share") return Compare(expected, "none", finding.share_of_time);
  if (expected.key == "next") return Compare(expected, finding.next.empty() ? "page" : "own", std::nullopt);
  if (expected.key == "frameworks") return Compare(expected, Join(finding.frameworks, ","), std::nullopt);
  const auto param = finding.params.find(expected.key);
  if (param != finding.params.end()) return Compare(expected, param->second, ParseDouble(param->second));
  return Format("the finding has no '{}'", expected.key);
}

class RuleCase : public testing::TestWithParam<CaseBlock> {};

TEST_P(RuleCase, AnswersAsTheCaseSays) {
  const CaseBlock& block = GetParam();
  const Rule* rule = RuleOfStem(StemOf(block));
  ASSERT_NE(rule, nullptr) << block.file << " belongs to no rule";
  Evidence evidence;
  std::vector<Expectation> expected;
  ASSERT_EQ(FillEvidence(block, evidence, expected), "");
  const Analysis analysis = Analyse(evidence);
  const Ladder ladder = FromText(evidence) ? ClimbText(evidence) : Climb(evidence, analysis);  // as the engine does
  const RuleOutcome outcome = rule->check({evidence, analysis, ladder});
  const char* kinds[] = {"fires", "clear", "cannot-tell"};
  ASSERT_EQ(kinds[static_cast<size_t>(outcome.kind)], block.kind) << "missing: " << Join(outcome.missing, ",");
  EXPECT_EQ(outcome.findings.empty(), block.kind != "fires");
  EXPECT_EQ(outcome.missing.empty(), block.kind != "cannot-tell")
      << "an answer of cannot-tell, and no other, names what is missing";
  for (const Expectation& one : expected) {
    if (one.key == "missing") {
      EXPECT_EQ(Join(outcome.missing, ","), one.value);
    } else {
      ASSERT_FALSE(outcome.findings.empty()) << one.key;
      EXPECT_EQ(CompareFinding(one, outcome.findings.front()), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleCase, testing::ValuesIn(BlocksOf("rules")), TestName);

class VerdictCase : public testing::TestWithParam<CaseBlock> {};

std::string CompareVerdict(const Expectation& expected, const Report& report) {
  if (expected.key == "gpu_used")
    return Compare(expected, std::string(GpuUsedName(report.verdict.gpu_used)), std::nullopt);
  if (expected.key == "cause") return Compare(expected, report.verdict.cause, std::nullopt);
  if (expected.key == "confidence") return Compare(expected, "", report.verdict.confidence);
  for (const WitnessStatement& statement : report.witnesses) {
    if (expected.key == SourceName(statement.rung)) {
      return Compare(expected, statement.state == "ok" ? std::string(GpuUsedName(statement.gpu_used)) : statement.state,
                     std::nullopt);
    }
  }
  const auto metric = report.metrics.find(expected.key);
  if (metric != report.metrics.end()) return Compare(expected, "unknown", metric->second.value);
  for (const RuleAnswer& answer : report.rules) {
    if (answer.name == expected.key) return Compare(expected, answer.answer, std::nullopt);
  }
  return Format("the report has no '{}'", expected.key);
}

TEST_P(VerdictCase, FollowsTheLadder) {
  const CaseBlock& block = GetParam();
  ASSERT_EQ(block.kind, "verdict");
  Evidence evidence;
  std::vector<Expectation> expected;
  ASSERT_EQ(FillEvidence(block, evidence, expected), "");
  ASSERT_FALSE(expected.empty()) << "a case without expectations tests nothing";
  const Report report = Diagnose(evidence);
  for (const Expectation& one : expected) EXPECT_EQ(CompareVerdict(one, report), "");
}

INSTANTIATE_TEST_SUITE_P(Verdicts, VerdictCase, testing::ValuesIn(BlocksOf("verdict")), TestName);

TEST(RuleCases, EveryRuleHasBlocks) {
  std::map<std::string, int> blocks;
  for (const CaseBlock& block : BlocksOf("rules")) ++blocks[StemOf(block)];
  for (const Rule* rule : AllRules()) {
    std::string stem(rule->name);
    std::replace(stem.begin(), stem.end(), '-', '_');
    EXPECT_GE(blocks[stem], 3) << stem;
  }
  EXPECT_GE(BlocksOf("verdict").size(), 25U);
}

TEST(RuleCases, RefusesALineThatIsNoEvidence) {
  const std::vector<CaseBlock> blocks =
      ReadCaseBlocks("--- fires: a\nfact x {\n--- clear: b\nsampel y\n", "rules/x.case");
  ASSERT_EQ(blocks.size(), 2U);
  for (const CaseBlock& block : blocks) {
    Evidence evidence;
    std::vector<Expectation> expected;
    EXPECT_NE(FillEvidence(block, evidence, expected), "");
  }
}

}  // namespace
}  // namespace gpuwhy
