// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

constexpr char kReader[] = "smi_monitor";

std::vector<double> Series(const Evidence& evidence, std::string_view metric, const Entity& entity) {
  std::vector<double> values;
  for (const Point& point : evidence.Samples(metric, entity)) values.push_back(point.value);
  return values;
}

TEST(SmiMonitor, DmonByTheNamesOfItsHeader) {
  const Evidence evidence = ReadWith(kReader,
                                     "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk\n"
                                     "# Idx      W      C      C      %      %    MHz    MHz\n"
                                     "    0     86     33      -     30     27   6250   1710\n"
                                     "    1     90     34      -      5      2   6250   1695\n"
                                     "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk\n"
                                     "# Idx      W      C      C      %      %    MHz    MHz\n"
                                     "    0    267     39      -    100     95   6250   1700\n"
                                     "    1      -     39      -      -     95   6250   1700\n");
  EXPECT_EQ(Series(evidence, "gpu.utilization.ratio", TextGpu(0)), (std::vector<double>{0.3, 1}));
  EXPECT_EQ(Series(evidence, "gpu.power.watts", TextGpu(1)), (std::vector<double>{90}));
  EXPECT_EQ(evidence.Samples("gpu.temperature.celsius", TextGpu(1)).back().time_s, 1);
  EXPECT_EQ(evidence.Find("gpu.clock.sm.hertz", TextGpu(0))->value.AsDouble(), 1.7e9);
  const Fact* use = evidence.Find("gpu.utilization.ratio", TextGpu(1));
  ASSERT_NE(use, nullptr);
  EXPECT_EQ(use->value.state, State::kUnsupported);
  EXPECT_EQ(use->where, "line 8");
}

TEST(SmiMonitor, OldNamesLimitsAndMemory) {
  const Evidence evidence = ReadWith(kReader,
                                     "# gpu   pwr  temp    sm   mem  mclk  pclk pviol tviol    fb  bar1 sbecc\n"
                                     "# Idx     W     C     %     %   MHz   MHz     %  bool    MB    MB  errs\n"
                                     "    0   111    83    25     7  4513  1683    12     0 11651     2     -\n"
                                     "    0   111    83    25     7  4513  1683     0     0 11651     2     -\n");
  EXPECT_EQ(evidence.Find("gpu.memory.used.bytes")->value.AsInt(), 11651LL * 1048576);
  EXPECT_EQ(evidence.Find("gpu.temperature.celsius")->value.AsDouble(), 83);
  EXPECT_EQ(evidence.Bool("gpu.throttle_reason.sw_power_cap"), true);
  EXPECT_EQ(evidence.Bool("gpu.throttle_reason.sw_thermal_slowdown"), false);
}

TEST(SmiMonitor, DatesCommasAndJoinedLines) {
  const Evidence dated = ReadWith(kReader,
                                  "#Date       Time        gpu     sm    mem\n"
                                  "#YYYYMMDD   HH:MM:SS    Idx      %      %\n"
                                  " 20240102   10:11:12      3     77     40\n");
  EXPECT_EQ(Series(dated, "gpu.utilization.ratio", TextGpu(3)), (std::vector<double>{0.77}));
  const Evidence commas = ReadWith(kReader, "# gpu, sm, mem, pclk\n# Idx, %, %, MHz\n0, 50, 3, 1500\n");
  EXPECT_EQ(Series(commas, "gpu.utilization.ratio", TextGpu(0)), (std::vector<double>{0.5}));
  const Evidence joined = ReadWith(kReader, "# gpu sm mem pclk # Idx % % MHz 0 50 3 1500 0 60 3 1500");
  EXPECT_EQ(Series(joined, "gpu.utilization.ratio", TextGpu(0)), (std::vector<double>{0.5, 0.6}));
}

TEST(SmiMonitor, PmonSplitsOnBlanks) {
  const Evidence evidence =
      ReadWith(kReader,
               "# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command \n"
               "# Idx           #    C/G      %      %      %      %      %      %    name \n"
               "    0       3485     C      0      0      -      -      -      -    python         \n"
               "    0       3485     C     12      0      -      -      -      -    python         \n"
               "    0        900     G      -      -      -      -      -      -    Isaac Sim      \n"
               "    1          -     -      -      -      -      -      -      -    -              \n");
  const Entity python = Entity::ProcessOnGpu(3485, "#0"), other = Entity::ProcessOnGpu(900, "#0");
  EXPECT_EQ(Series(evidence, "process.gpu.sm.ratio", python), (std::vector<double>{0, 0.12}));
  EXPECT_EQ(evidence.Samples("process.gpu.sm.ratio", python)[1].time_s, 1);
  EXPECT_EQ(evidence.Find("process.gpu.type", python)->value.AsText(), "C");
  EXPECT_EQ(evidence.Find("process.name", python)->value.AsText(), "python");
  EXPECT_EQ(evidence.Find("process.gpu.listed", other)->value.AsBool(), true);
  EXPECT_EQ(evidence.Find("process.name", other)->value.AsText(), "Isaac Sim");
  EXPECT_EQ(evidence.Find("process.gpu.sm.ratio", other)->value.state, State::kUnsupported);
  EXPECT_TRUE(Series(evidence, "process.gpu.sm.ratio", other).empty());
  EXPECT_EQ(evidence.Entities(EntityKind::kProcessOnGpu).size(), 2U);
}

TEST(SmiMonitor, ASharePastAllIsNoReading) {
  const Evidence evidence = ReadWith(
      kReader,
      "# gpu        pid  type    sm   mem   enc   dec   command\n# Idx          #   C/G     %     %     %     %   "
      "name\n"
      "    0      14390     C 37100    12     0     0   python\n");
  const Entity process = Entity::ProcessOnGpu(14390, "#0");
  ASSERT_NE(evidence.Find("process.gpu.sm.ratio", process), nullptr);
  EXPECT_FALSE(evidence.Find("process.gpu.sm.ratio", process)->value.known());
  EXPECT_TRUE(evidence.Samples("process.gpu.sm.ratio", process).empty());
  EXPECT_EQ(evidence.Find("process.gpu.listed", process)->value.AsBool(), true);
}

TEST(SmiMonitor, ARowThatCannotBeReadIsAGap) {
  const Evidence evidence = ReadWith(kReader, "# gpu     sm    mem   pclk\n# Idx      %      %    MHz\n    0     30\n");
  ASSERT_EQ(evidence.gaps().size(), 1U);
  EXPECT_EQ(evidence.gaps()[0].params.at("line"), "3");
  EXPECT_TRUE(evidence.EntitiesWith("gpu.utilization.ratio").empty());
}

TEST(SmiMonitor, StaysSilent) {
  for (const char* text : {"# gpu notes of today\n0 1\n", "# results\n0 30 40 50\n", "0 86 33 - 30 27 0 0\n",
                           "# gpu sm mem pclk\nsome words\n0 50 3 1500\n", "#\n# a comment\n"}) {
    const Evidence evidence = ReadWith(kReader, text);
    EXPECT_TRUE(evidence.WithPrefix("").empty()) << text;
    EXPECT_TRUE(evidence.gaps().empty()) << text;
  }
}

}  // namespace
}  // namespace gpuwhy
