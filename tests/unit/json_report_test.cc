// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"
#include "report/json/subject.h"
#include "report/reporter.h"

namespace gpuwhy::report {
namespace {

Json Rendered(const Report& report, bool verbose = false) {
  Options options;
  options.verbose = verbose;
  for (const Reporter* reporter : AllReporters()) {
    if (reporter->name != "json") continue;
    Result<Json> parsed = Json::Parse(reporter->render(report, options));
    EXPECT_TRUE(parsed);
    return parsed ? *parsed : Json();
  }
  ADD_FAILURE() << "no json reporter";
  return {};
}

TEST(JsonReport, AnEmptyReportHasEveryMemberInOrder) {
  std::string names;
  const Json json = Rendered(Report{});
  for (const auto& [name, value] : json.AsObject()) names += name + " ";
  EXPECT_EQ(names, "schema verdict witnesses findings gaps breakdown subject metrics ");
  EXPECT_TRUE(Rendered(Report{})["breakdown"].is_null());
  EXPECT_TRUE(Rendered(Report{})["verdict"]["next"].is_null());
  EXPECT_TRUE(Rendered(Report{})["metrics"].is_object());
  EXPECT_TRUE(Rendered(Report{}, true)["rules"].is_array());
}

TEST(JsonReport, AMissingValueIsNullAndSaysWhy) {
  Report report;
  Finding finding;
  finding.id = "GW999";
  finding.cause = "made-up";
  finding.evidence.push_back(
      {"gpu.power.watts", Value::Missing(State::kUnsupported, "N/A"), "watts", Source::kDriver, ""});
  report.findings.push_back(finding);
  report.metrics["gpu.power.watts"] = {std::nullopt, "watts", State::kUnsupported, "device"};
  report.metrics["run.wall.seconds"] = {std::numeric_limits<double>::infinity(), "seconds", State::kValue, "os"};
  const Json json = Rendered(report);
  const Json& item = json["findings"].AsArray()[0]["evidence"].AsArray()[0];
  EXPECT_TRUE(item["value"].is_null());
  EXPECT_EQ(item["what"].AsString(), "board power: not supported (N/A)");
  EXPECT_TRUE(json["findings"].AsArray()[0]["share_of_time"].is_null());
  EXPECT_TRUE(json["metrics"]["gpu.power.watts"]["value"].is_null());
  EXPECT_EQ(json["metrics"]["gpu.power.watts"]["state"].AsString(), "unsupported");
  EXPECT_EQ(json["metrics"]["run.wall.seconds"]["state"].AsString(), "unknown");
}

TEST(JsonReport, NumbersAreRoundedAndWholeOnesExact) {
  EXPECT_EQ(Rounded(1.0 / 3).Dump(), "0.333333");
  EXPECT_EQ(Rounded(1234567.891).Dump(), "1234570.0");
  EXPECT_EQ(Rounded(150754820096.0).Dump(), "150754820096");
  EXPECT_EQ(Rounded(0).Dump(), "0");
  EXPECT_TRUE(Rounded(std::numeric_limits<double>::quiet_NaN()).is_null());
}

TEST(JsonReport, FactsBecomeFieldsOfWhatTheyAreAbout) {
  const auto fact = [](std::string name, Entity entity, Value value) {
    return Fact{std::move(name), std::move(entity), std::move(value), Source::kOs, "", 0};
  };
  const Json json = SubjectJson({fact("host.kernel", Entity::Host(), Value::Of(std::string("6.1"))),
                                 fact("gpu.name", Entity::Gpu("GPU-1"), Value::Of(std::string("H200"))),
                                 fact("gpu.fan", Entity::Gpu("GPU-1"), Value::Missing(State::kUnsupported, "N/A")),
                                 fact("process.command", Entity::Process(7), Value::Of(StringList{"python", "a.py"})),
                                 fact("framework.torch.cuda.built", Entity::Process(7), Value::Of(false)),
                                 fact("process.command", Entity::Process(8), Value::Of(StringList{"sh"}))});
  EXPECT_EQ(
      json.Dump(),
      R"j({"host":{"kernel":"6.1"},"gpus":[{"id":"GPU-1","name":"H200","fan":null,"unknown":{"fan":"unsupported (N/A)"}}],)j"
      R"("process":{"pid":7,"command":["python","a.py"]},"frameworks":[{"name":"torch","pid":7,"cuda.built":false}],)"
      R"("other_processes":[{"pid":8,"command":["sh"]}]})");
}

}  // namespace
}  // namespace gpuwhy::report
