// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "report/comparison.h"
#include "session/compare_sessions.h"

namespace gpuwhy {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kPid = 42;

struct Job {
  double step_s = 0.1;
  int steps = 100;
  uint64_t batch = 32;  // 0: not seen
  int64_t workers = 0;
  std::string version = "2.11.0";
  std::string gpu = "NVIDIA H200";
  int64_t tensors = 161;
};

void AddFact(Evidence& evidence, const char* name, Value value) {
  evidence.AddFact(name, Entity::Process(kPid), std::move(value), Source::kFramework);
}

// A recorded job with a little noise in its steps, other in every recording.
SessionSide Session(const Job& job, int number = 1) {
  SessionSide side;
  side.name = "run-" + std::to_string(number);
  side.fingerprint = static_cast<size_t>(number);
  Evidence& evidence = side.evidence;
  AddFact(evidence, "framework.torch.version", Value::Of(job.version));
  AddFact(evidence, "framework.torch.parameters.count", Value::Of(job.tensors));
  AddFact(evidence, "framework.torch.parameters.cuda_bytes", Value::Of(job.tensors * 1'000'000));
  AddFact(evidence, "framework.torch.loader.1.workers", Value::Of(job.workers));
  evidence.AddFact("gpu.name", Entity::Gpu("GPU-1"), Value::Of(job.gpu), Source::kDriver);
  evidence.AddFact("process.gpu.listed", Entity::ProcessOnGpu(kPid, "GPU-1"), Value::Of(true), Source::kDriver);
  double time = 0;
  for (int step = 1; step <= job.steps; ++step) {
    time += job.step_s * (1 + 0.05 * std::sin(step * 1.7 + number));
    const auto index = static_cast<uint64_t>(step);
    const auto start = static_cast<int64_t>(time * 1e9);
    evidence.Add(Span{SpanKind::kInputWait, kPid, start, 1000, -1, 7, 0, 0, {32, 0, 1}});
    evidence.Add(StepMark{kPid, start, index, 0, 0, index * job.batch, 0});
  }
  return side;
}

Comparison Of(const Job& before, const Job& after) { return Compare({Session(before, 1)}, {Session(after, 2)}); }

std::vector<std::string> Caveats(const Comparison& comparison) {
  std::vector<std::string> ids;
  for (const Note& note : comparison.caveats) ids.push_back(note.id);
  return ids;
}

std::vector<std::string> Settings(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const SettingChange& setting : comparison.settings) names.push_back(setting.name);
  return names;
}

std::string Sentence(const Comparison& comparison) {
  return report::ComparisonSentence(comparison, report::Language::kEnglish);
}

TEST(Compare, AFasterRun) {
  const Comparison comparison = Of({.step_s = 0.3}, {.step_s = 0.1, .workers = 8});
  EXPECT_EQ(comparison.result, CompareResult::kFaster);
  EXPECT_NEAR(comparison.ratio->value, 3, 0.1);
  EXPECT_EQ(comparison.ratio->unit, "step");
  EXPECT_EQ(comparison.ratio->same_work, "yes");
  EXPECT_THAT(Sentence(comparison), HasSubstr("times as fast as A (95 % interval"));
  EXPECT_THAT(Sentence(comparison), HasSubstr("within these runs"));
  EXPECT_THAT(Settings(comparison), testing::ElementsAre("framework.torch.loader.workers"));
  EXPECT_THAT(Caveats(comparison), testing::ElementsAre("one_run"));
}

TEST(Compare, ASlowerRun) {
  const Comparison comparison = Of({.step_s = 0.1}, {.step_s = 0.2});
  EXPECT_EQ(comparison.result, CompareResult::kSlower);
  EXPECT_LT(*comparison.ratio->high, 0.6);
  EXPECT_THAT(Sentence(comparison), HasSubstr("slower"));
}

// Beyond the noise inside the runs, but not beyond what two processes of one job differ by.
TEST(Compare, OneRunEachCannotShowASmallDifference) {
  const Comparison comparison = Of({.step_s = 0.110}, {.step_s = 0.1});
  EXPECT_GT(*comparison.ratio->low, 1);
  EXPECT_EQ(comparison.result, CompareResult::kNoDifference);
  EXPECT_THAT(Sentence(comparison), HasSubstr("No difference that one run each can show"));
  EXPECT_THAT(comparison.next, HasSubstr("--"));
}

TEST(Compare, SeveralRunsCan) {
  std::vector<SessionSide> before, after;
  for (int run = 0; run < 3; ++run) {
    before.push_back(Session({.step_s = 0.110 + 0.0005 * run}, run));
    after.push_back(Session({.step_s = 0.100 + 0.0005 * run}, 10 + run));
  }
  const Comparison comparison = Compare(before, after);
  EXPECT_EQ(comparison.result, CompareResult::kFaster);
  EXPECT_TRUE(comparison.ratio->between_runs);
  EXPECT_THAT(Sentence(comparison), HasSubstr("over 3 and 3 runs"));
  EXPECT_THAT(Caveats(comparison), Not(Contains("one_run")));
}

TEST(Compare, RunsOfOneSideThatAreNotAlike) {
  const Comparison comparison = Compare({Session({.workers = 0}, 1), Session({.workers = 4}, 2)}, {Session({}, 3)});
  EXPECT_THAT(Caveats(comparison), Contains("unlike_runs"));
}

// Steps of 64 take longer than steps of 32, and the training is faster all the same.
TEST(Compare, OtherBatchSizesCompareSamples) {
  const Comparison comparison = Of({.step_s = 0.1, .batch = 32}, {.step_s = 0.15, .batch = 128});
  EXPECT_EQ(comparison.ratio->unit, "sample");
  EXPECT_NEAR(comparison.ratio->value, 128 / 0.15 / (32 / 0.1), 0.1);
  EXPECT_EQ(comparison.result, CompareResult::kFaster);
  EXPECT_THAT(Caveats(comparison), Contains("batch"));
}

// The last batch of an epoch is smaller: exact in samples, and no other batch size.
TEST(Compare, SmallerLastBatchesAreNoOtherBatchSize) {
  const Comparison comparison = Of({.step_s = 0.1, .batch = 1000}, {.step_s = 0.1, .batch = 990});
  EXPECT_EQ(comparison.ratio->unit, "sample");
  EXPECT_NEAR(comparison.ratio->value, 0.99, 0.002);
  EXPECT_THAT(Caveats(comparison), Not(Contains("batch")));
}

TEST(Compare, AnUnseenBatchSizeIsNotCalledFaster) {
  const Comparison comparison = Of({.step_s = 0.3}, {.step_s = 0.1, .batch = 0});
  EXPECT_EQ(comparison.ratio->unit, "step");
  EXPECT_EQ(comparison.ratio->same_work, "unknown");
  EXPECT_THAT(Caveats(comparison), Contains("batch_unknown"));
  EXPECT_THAT(Sentence(comparison), HasSubstr("steps a second"));
  EXPECT_THAT(Sentence(comparison), Not(HasSubstr("as fast as")));
}

TEST(Compare, OtherModelsAndGpusAreNamed) {
  const Comparison comparison = Of({.step_s = 0.3}, {.step_s = 0.1, .gpu = "NVIDIA A100", .tensors = 60});
  EXPECT_EQ(comparison.ratio->same_work, "no");
  EXPECT_THAT(Caveats(comparison), Contains("model"));
  EXPECT_THAT(Caveats(comparison), Contains("gpu"));
  EXPECT_THAT(Settings(comparison), Contains("gpu.name"));
  EXPECT_THAT(Sentence(comparison), HasSubstr("not the same work"));
}

TEST(Compare, ARunWithoutStepsIsUnknown) {
  SessionSide empty;
  empty.name = "empty";
  const Comparison comparison = Compare({Session({})}, {empty});
  EXPECT_EQ(comparison.result, CompareResult::kUnknown);
  EXPECT_FALSE(comparison.ratio);
  ASSERT_TRUE(comparison.unknown_why);
  EXPECT_EQ(comparison.unknown_why->id, "no_pace_b");
  EXPECT_EQ(comparison.next, "gpuwhy run -- CMD");
  EXPECT_THAT(Sentence(comparison), HasSubstr("a session of B"));
}

TEST(Compare, AShortRunHasARatioAndNoInterval) {
  const Comparison comparison = Of({.steps = 100}, {.step_s = 0.05, .steps = 5});
  ASSERT_TRUE(comparison.ratio);
  EXPECT_FALSE(comparison.ratio->low);
  EXPECT_EQ(comparison.result, CompareResult::kUnknown);
  EXPECT_THAT(Sentence(comparison), HasSubstr("how sure that is cannot be said"));
}

TEST(Compare, EqualSettingsAreLeftOut) { EXPECT_THAT(Settings(Of({}, {})), IsEmpty()); }

std::string Fixture(const std::string& name) {
  return std::string(GPUWHY_SOURCE_DIR) + "/tests/fixtures/sessions/" + name + ".gpuwhy";
}

// Buckets in seconds add up to the time of a step.
TEST(CompareSessions, BucketsAddUp) {
  const Result<Comparison> comparison =
      CompareSessions({Fixture("h200-resnet-workers-0")}, {Fixture("h200-resnet-resident")});
  ASSERT_TRUE(comparison) << comparison.error().Line();
  double before = 0, after = 0;
  for (const BucketChange& bucket : comparison->buckets) {
    before += bucket.seconds.before.value_or(0);
    after += bucket.seconds.after.value_or(0);
  }
  EXPECT_NEAR(before, *comparison->unit_seconds.before, 1e-9);
  EXPECT_NEAR(after, *comparison->unit_seconds.after, 1e-9);
}

TEST(CompareSessions, ARunWithItselfIsNoDifference) {
  for (const char* name : {"h200-resnet-workers-0", "h200-mlp", "h200-item", "h200-jax", "h200-pageable"}) {
    const Result<Comparison> comparison = CompareSessions({Fixture(name)}, {Fixture(name)});
    ASSERT_TRUE(comparison) << comparison.error().Line();
    EXPECT_EQ(comparison->result, CompareResult::kNoDifference) << name;
    EXPECT_NEAR(comparison->ratio->value, 1, 1e-9) << name;
    EXPECT_LE(*comparison->ratio->low, 1) << name;
    EXPECT_GE(*comparison->ratio->high, 1) << name;
    EXPECT_THAT(Caveats(*comparison), Contains("same_recording"));
    EXPECT_THAT(Settings(*comparison), IsEmpty());
    for (const FindingChange& change : comparison->findings) EXPECT_EQ(change.Kind(), "kept");
  }
}

TEST(CompareSessions, OneInputIsReadOnce) {
  const Result<Comparison> comparison = CompareSessions({"-"}, {"-"});
  ASSERT_FALSE(comparison);
  EXPECT_EQ(comparison.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace gpuwhy
