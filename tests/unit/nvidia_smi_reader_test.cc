// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "unit/reader_test_run.h"

namespace gpuwhy {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(GPUWHY_SOURCE_DIR) / "tests/readers/nvidia_smi";

std::string Slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> Fixtures(const fs::path& folder, const std::string& prefix = "") {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".txt" && name.rfind(prefix, 0) == 0) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Evidence Read(std::string_view text) { return ReadWith("nvidia_smi", text); }

std::string Show(const Fact& fact) { return fact.name + " @" + fact.entity.Text() + " = " + fact.value.Show(); }

// All that the reader says of a text, without the places.
std::vector<std::string> Said(const Evidence& evidence) {
  std::vector<std::string> said;
  for (const Fact* fact : evidence.WithPrefix("")) said.push_back(Show(*fact));
  std::sort(said.begin(), said.end());
  return said;
}

// The form of the .facts files: facts with their places, then rows that could not be read.
std::vector<std::string> Listed(const Evidence& evidence) {
  std::vector<std::string> listed;
  for (const Fact* fact : evidence.WithPrefix("")) listed.push_back(Show(*fact) + " | " + fact->where);
  std::sort(listed.begin(), listed.end());
  for (const Gap& gap : evidence.gaps()) listed.push_back("gap | line " + gap.params.at("line"));
  return listed;
}

std::string EachLine(std::string_view text, const std::function<std::string(std::string_view)>& change) {
  std::string out;
  for (const std::string_view line : Lines(text)) out += change(line) + "\n";
  return out;
}

std::string Replace(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::string Collapse(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c != ' ' || out.empty() || out.back() != ' ') out += c;
  }
  return out;
}

bool IsRule(std::string_view line) {
  return !line.empty() && line.find_first_not_of("+-=| ") == std::string_view::npos && Contains(line, "---");
}

TEST(NvidiaSmi, EveryFixtureGivesItsFacts) {
  const std::vector<fs::path> fixtures = Fixtures(kFolder);
  EXPECT_GE(fixtures.size(), 40U);
  for (const fs::path& path : fixtures) {
    const std::string facts = Slurp(fs::path(path).replace_extension(".facts"));
    std::vector<std::string> expected;
    for (const std::string_view line : Lines(facts)) {
      if (!line.empty()) expected.emplace_back(line);
    }
    EXPECT_FALSE(expected.empty()) << path;
    EXPECT_EQ(Listed(Read(Slurp(path))), expected) << path;
  }
}

// Prose with bars, other tables, the tables of other vendors' tools, lists with commas.
TEST(NvidiaSmi, StaysSilent) {
  const std::vector<fs::path> fixtures = Fixtures(kFolder / "silent");
  EXPECT_GE(fixtures.size(), 10U);
  for (const fs::path& path : fixtures) {
    const Evidence evidence = Read(Slurp(path));
    EXPECT_EQ(Said(evidence), std::vector<std::string>{}) << path;
    EXPECT_TRUE(evidence.gaps().empty()) << path;
    EXPECT_TRUE(evidence.EntitiesWith("gpu.utilization.ratio").empty()) << path;
  }
}

// What pasting does to a table without taking anything from it.
std::vector<std::pair<const char*, std::string>> Forms(const std::string& text) {
  const std::string bars = Replace(Replace(Replace(text, "|", "\xE2\x94\x82"), "---", "\xE2\x94\x80\xE2\x94\x80"),
                                   "===", "\xE2\x95\x90\xE2\x95\x90\xE2\x95\x90");
  return {{"collapsed blanks", EachLine(text, Collapse)},
          {"tabs", EachLine(text, [](std::string_view line) { return Replace(std::string(line), "  ", "\t"); })},
          {"double spacing", EachLine(text, [](std::string_view line) { return std::string(line) + "\n"; })},
          {"one line", Replace(text, "\n", " ")},
          {"one line, collapsed", Collapse(Replace(text, "\n", " "))},
          {"drawn bars", bars},
          {"broken bars", Replace(text, "|", "\xC2\xA6")},
          {"typographic dashes", Replace(text, "---", "\xE2\x80\x93-")},
          {"long dashes", Replace(text, "---", "\xE2\x80\x94")},
          {"indented", EachLine(text, [](std::string_view line) { return "        " + std::string(line); })},
          {"no blanks at the ends", EachLine(text, [](std::string_view line) { return std::string(Trim(line)); })},
          {"CRLF", Replace(text, "\n", "\r\n")}};
}

TEST(NvidiaSmi, FormChangesNothing) {
  for (const char* prefix : {"driver-", "mig-", "jetson-", "vgpu-"}) {
    for (const fs::path& path : Fixtures(kFolder, prefix)) {
      const std::string text = Slurp(path);
      const std::vector<std::string> said = Said(Read(text));
      for (const auto& [name, form] : Forms(text)) {
        // Blanks inside a memory of an instance are quoted as they stand.
        std::vector<std::string> now = Said(Read(form)), before = said;
        for (std::vector<std::string>* list : {&now, &before}) {
          for (std::string& line : *list) line = Collapse(Replace(line, "\t", " "));
        }
        EXPECT_EQ(now, before) << path << ": " << name;
      }
    }
  }
}

// Borders say where a box ends: without them nothing may be called empty, and the rest stays.
TEST(NvidiaSmi, BordersMayBeMissing) {
  for (const char* prefix : {"driver-", "jetson-", "vgpu-"}) {
    for (const fs::path& path : Fixtures(kFolder, prefix)) {
      const std::string text = Slurp(path);
      std::string bare;
      for (const std::string_view line : Lines(text)) {
        if (!IsRule(line) && !Contains(line, "===")) bare += std::string(line) + "\n";
      }
      std::vector<std::string> expected = Said(Read(text));
      expected.erase(std::remove(expected.begin(), expected.end(), "driver.processes.box @host = empty"),
                     expected.end());
      EXPECT_EQ(Said(Read(bare)), expected) << path;
    }
  }
}

TEST(NvidiaSmi, WrappedAt80Columns) {
  for (const char* name : {"driver-530-glued-bars.txt", "driver-560-windows-driver-model.txt",
                           "driver-575-four-digit-watts.txt", "driver-610-kmd.txt", "mig-580-wide.txt"}) {
    const std::string text = Slurp(kFolder / name);
    const std::string wrapped = EachLine(text, [](std::string_view line) {
      return line.size() <= 80 ? std::string(line)
                               : std::string(line.substr(0, 80)) + "\n" + std::string(line.substr(80));
    });
    EXPECT_EQ(Said(Read(wrapped)), Said(Read(text))) << name;
  }
}

// Keeps every fact, not only the newest of its name.
class Recorder : public Evidence {
 public:
  using Evidence::Add;
  void Add(const Fact& fact) override { all[fact.name + " @" + fact.entity.Text()].push_back(fact.value); }
  std::map<std::string, std::vector<Value>> all;
};

Recorder Record(std::string_view text) {
  PastedText pasted = CleanText(text);
  Recorder recorder;
  ReaderOf("nvidia_smi").read(pasted, recorder);
  return recorder;
}

bool Within(const Value& value, const std::vector<Value>& known) {
  return std::any_of(known.begin(), known.end(), [&](const Value& other) {
    if (value.Show() == other.Show()) return true;
    const std::optional<StringList> part = value.AsList(), whole = other.AsList();
    return part && whole && !part->empty() && std::all_of(part->begin(), part->end(), [&](const std::string& item) {
             return std::find(whole->begin(), whole->end(), item) != whole->end();
           });
  });
}

// What a part of a text says, the whole text has to say as well.
void ExpectNothingNew(const Recorder& whole, std::string_view part, const std::set<std::string>& but,
                      const std::string& where) {
  for (const auto& [key, values] : Record(part).all) {
    const auto known = whole.all.find(key);
    for (const Value& value : values) {
      if (!value.known() || but.count(key) > 0) continue;
      const bool same = known != whole.all.end() && Within(value, known->second);
      EXPECT_TRUE(same) << where << ": " << key << " = " << value.Show() << " in\n" << part;
      if (!same) return;
    }
  }
}

TEST(NvidiaSmi, ACutTableSaysNothingNew) {
  for (const char* prefix : {"driver-", "mig-", "jetson-", "vgpu-", "loop-", "damaged-", "nvitop"}) {
    for (const fs::path& path : Fixtures(kFolder, prefix)) {
      const std::string text = Slurp(path);
      const Recorder whole = Record(text);
      for (size_t size = 0; size < text.size(); size += 23)  // in the middle of a line, each time at another place
        ExpectNothingNew(whole, std::string_view(text).substr(0, size), {}, path.filename().string());
    }
  }
}

TEST(NvidiaSmi, ACutListSaysNothingNew) {
  for (const char* prefix : {"csv-query", "csv-list", "csv-rounds", "csv-one", "csv-noheader", "csv-apps"}) {
    for (const fs::path& path : Fixtures(kFolder, prefix)) {
      const std::string text = Slurp(path);
      const Recorder whole = Record(text);
      for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
        ExpectNothingNew(whole, std::string_view(text).substr(0, at), {}, path.filename().string());
    }
  }
}

TEST(NvidiaSmi, ATableWithoutItsHeadSaysNothingNew) {
  for (const char* prefix : {"driver-", "mig-"}) {
    for (const fs::path& path : Fixtures(kFolder, prefix)) {
      const std::string text = Slurp(path);
      const Recorder whole = Record(text);
      for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
        ExpectNothingNew(whole, std::string_view(text).substr(at + 1), {}, path.filename().string());
    }
  }
}

// A box that lost just its rows cannot be told from an empty one; everything else can.
TEST(NvidiaSmi, ALostLineSaysNothingNew) {
  for (const char* prefix : {"driver-", "mig-", "csv-query", "csv-list"}) {
    for (const fs::path& path : Fixtures(kFolder, prefix)) {
      const std::string text = Slurp(path);
      const Recorder whole = Record(text);
      const std::vector<std::string_view> lines = Lines(text);
      for (size_t lost = 0; lost < lines.size(); ++lost) {
        std::string rest;
        for (size_t i = 0; i < lines.size(); ++i) rest += i == lost ? "" : std::string(lines[i]) + "\n";
        ExpectNothingNew(whole, rest, {"driver.processes.box @host"}, path.filename().string());
      }
    }
  }
}

TEST(NvidiaSmi, EveryLineOfATableIsClaimed) {
  for (const char* name : {"driver-352-two-boards.txt", "driver-451-windows-no-mig-row.txt", "mig-580-wide.txt"}) {
    PastedText text = CleanText(Slurp(kFolder / name));
    Evidence evidence;
    ReaderOf("nvidia_smi").read(text, evidence);
    for (size_t i = 0; i < text.size(); ++i) EXPECT_TRUE(Trim(text[i]).empty() || text.claimed(i)) << text[i];
  }
}

std::vector<std::pair<double, double>> SeriesOf(const Evidence& evidence, const char* metric, const Entity& entity) {
  std::vector<std::pair<double, double>> points;
  for (const Point& point : evidence.Samples(metric, entity)) points.emplace_back(point.time_s, point.value);
  return points;
}
using Points = std::vector<std::pair<double, double>>;

TEST(NvidiaSmi, TablesInARowAreReadings) {
  const Evidence evidence = Read(Slurp(kFolder / "loop-of-two.txt"));
  EXPECT_EQ(SeriesOf(evidence, "gpu.utilization.ratio", TextGpu(0)), (Points{{0, 0}, {1, 1}}));
  EXPECT_EQ(SeriesOf(evidence, "gpu.power.watts", TextGpu(0)), (Points{{0, 15}, {1, 548}}));
  EXPECT_EQ(SeriesOf(evidence, "gpu.pstate", TextGpu(0)), (Points{{0, 8}, {1, 1}}));
}

TEST(NvidiaSmi, RowsOfAQueryAreReadings) {
  const Evidence evidence = Read(Slurp(kFolder / "csv-rounds-by-time.txt"));
  EXPECT_EQ(SeriesOf(evidence, "gpu.power.watts", TextGpu(0)), (Points{{0, 290.1}, {1, 288.4}}));
  EXPECT_EQ(SeriesOf(evidence, "gpu.power.watts", TextGpu(1)), (Points{{0, 33}, {1, 33.1}}));
}

TEST(NvidiaSmi, WhatHasNoValueIsNoReading) {
  const Evidence evidence = Read(Slurp(kFolder / "driver-510-one-board-lost.txt"));
  EXPECT_TRUE(evidence.Samples("gpu.utilization.ratio", TextGpu(1)).empty());
  EXPECT_TRUE(evidence.Samples("gpu.power.watts", TextGpu(1)).empty());
  EXPECT_EQ(evidence.Samples("gpu.utilization.ratio", TextGpu(0)).size(), 1U);
}

TEST(NvidiaSmi, MemoryOfAProcessIsAReading) {
  const std::string text = Slurp(kFolder / "driver-575-four-digit-watts.txt");
  const Evidence evidence = Read(text + "\n" + Replace(text, "251880MiB", "251000MiB"));
  EXPECT_EQ(SeriesOf(evidence, "process.gpu.memory.bytes", Entity::ProcessOnGpu(4129035, "#0")),
            (Points{{0, 251880.0 * 1048576}, {1, 251000.0 * 1048576}}));
}

TEST(NvidiaSmi, FactsCarryLineAndQuote) {
  const Evidence evidence = Read("hello\n" + Slurp(kFolder / "driver-616-windows-mcdm.txt"));
  const Fact* power = evidence.Find("gpu.power.watts", TextGpu(0));
  ASSERT_NE(power, nullptr);
  EXPECT_EQ(power->where, "line 10");
  EXPECT_EQ(power->quote,
            "| 30%   49C    P1            301W /  600W |   61440MiB /  97887MiB |     99%      Default |");
  EXPECT_EQ(power->source, Source::kDevice);
  EXPECT_EQ(evidence.Find("driver.version")->source, Source::kDriver);
}

TEST(NvidiaSmi, ASecondTableSaysAnewWhichInstancesThereAre) {
  const std::string before = Slurp(kFolder / "mig-535-none-found.txt");
  const std::string after = Slurp(kFolder / "mig-535-one-of-two-divided.txt");
  EXPECT_EQ(Read(before + after).Find("gpu.mig.instances", TextGpu(0))->value.AsList(),
            (StringList{"GI 1 CI 0: 12MiB / 11968MiB"}));
  EXPECT_EQ(Read(after + before).Find("gpu.mig.instances", TextGpu(0))->value.AsList(), StringList{});
}

// What no board can say is damage: a gap, and no value.
TEST(NvidiaSmi, ImpossibleFiguresAreGaps) {
  const std::string table = Slurp(kFolder / "driver-616-windows-mcdm.txt");
  const auto broken = [&](const char* what, const char* with, const char* name) {
    const Evidence evidence = Read(Replace(table, what, with));
    const Fact* fact = evidence.Find(name, TextGpu(0));
    EXPECT_TRUE(fact == nullptr || !fact->value.known()) << with;
    EXPECT_TRUE(evidence.Samples(name, TextGpu(0)).empty()) << with;
    EXPECT_EQ(evidence.gaps().size(), 1U) << with;
  };
  broken("     99% ", "    999% ", "gpu.utilization.ratio");
  broken(" 301W ", " 1e99W ", "gpu.power.watts");
  broken("49C", "9999C", "gpu.temperature.celsius");
  broken("61440MiB", "1e300MiB", "gpu.memory.used.bytes");
  broken(" 97887MiB", " 1e300MiB", "gpu.memory.total.bytes");
  broken(" P1 ", " P77 ", "gpu.pstate");
  const Evidence list = Read("index, utilization.gpu [%], memory.total [MiB]\n0, 140 %, 8192 MiB\n");
  EXPECT_EQ(list.Find("gpu.utilization.ratio"), nullptr);
  EXPECT_EQ(list.Find("gpu.memory.total.bytes", TextGpu(0))->value.AsInt(), 8192LL * 1048576);
  EXPECT_EQ(list.gaps().size(), 1U);
}

TEST(NvidiaSmi, TheNextCommandIsNoRow) {
  const Evidence evidence = Read(
      "index, name, power.draw [W]\n0, Tesla T4, 30.00 W\n"
      "$ nvidia-smi --query-gpu=index,name,power.draw --format=csv -i 1\n"
      "index, name, power.draw [W]\n1, Tesla T4, 70.00 W\n");
  EXPECT_EQ(evidence.Find("gpu.power.watts", TextGpu(0))->value.AsDouble(), 30);
  EXPECT_EQ(evidence.Find("gpu.power.watts", TextGpu(1))->value.AsDouble(), 70);
  EXPECT_TRUE(evidence.gaps().empty());
}

// With a loop a list of equal names is one GPU at several times; without one it is several GPUs.
TEST(NvidiaSmi, ALoopOfOneGpuIsNoListOfGpus) {
  const std::string rows = "Tesla T4, 10 %\nTesla T4, 20 %\n";
  const std::string query = "nvidia-smi --query-gpu=name,utilization.gpu --format=csv,noheader";
  EXPECT_EQ(Read(query + "\n" + rows).All("gpu.index").size(), 2U);
  const Evidence loop = Read(query + " -l 1\n" + rows);
  EXPECT_EQ(loop.All("gpu.index").size(), 1U);
  EXPECT_EQ(SeriesOf(loop, "gpu.utilization.ratio", TextGpu(0)), (Points{{0, 0.1}, {1, 0.2}}));
}

TEST(NvidiaSmi, ReasonsThatHoldForAGlimpseAreNone) {
  const std::string head = "index, clocks_event_reasons.active\n";
  const auto capped = [&](const std::string& rows) {
    return *Read(head + rows).Find("gpu.throttle_reason.sw_power_cap", TextGpu(0))->value.AsBool();
  };
  EXPECT_FALSE(capped("0, 0x0000000000000000\n0, 0x0000000000000000\n0, 0x0000000000000004\n"));
  EXPECT_TRUE(capped("0, 0x0000000000000004\n0, 0x0000000000000004\n0, 0x0000000000000000\n"));
  EXPECT_TRUE(capped("0, 0x0000000000000001\n0, 0x0000000000000001\n0, 0x0000000000000004\n"));
  EXPECT_FALSE(capped("0, 0x0000000000000001\n0, 0x0000000000000001\n"));
}

}  // namespace
}  // namespace gpuwhy
