// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"
#include "session/diagnose.h"

// Pasted texts arrive cut, wrapped, re-encoded and mixed. What only changes the form must change nothing; what takes
// something away may make the verdict unknown, but never turn it round.
namespace gpuwhy {
namespace {

struct PastedCase {
  std::string name, text;
};

std::vector<PastedCase> AllCases() {
  std::vector<PastedCase> cases;
  const std::filesystem::path root = std::filesystem::path(GPUWHY_SOURCE_DIR) / "tests/texts";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "input.txt") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    cases.push_back(
        {entry.path().parent_path().filename().string(), std::string(std::istreambuf_iterator<char>(file), {})});
  }
  std::sort(cases.begin(), cases.end(), [](const PastedCase& a, const PastedCase& b) { return a.name < b.name; });
  return cases;
}

bool IsWide(const std::string& text) { return text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF"; }

GpuUsed Used(const std::string& text) {
  const Result<Report> report = DiagnoseInput(text, "text");
  return report ? report->verdict.gpu_used : GpuUsed::kUnknown;  // nothing left to read is no claim
}

std::string Cause(const std::string& text) {
  const Result<Report> report = DiagnoseInput(text, "text");
  return report ? report->verdict.cause : "";
}

std::string EachLine(const std::string& text, const std::function<std::string(std::string)>& change) {
  std::string out;
  for (const std::string_view line : Lines(text)) out += change(std::string(line)) + "\n";
  return out;
}

std::string Escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

// ASCII only: other characters would need a converter that the test would have to trust.
std::string Widen(const std::string& text) {
  std::string out = "\xFF\xFE";
  for (const char c : text) {
    out += c;
    out += '\0';
  }
  return out;
}

bool Ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// A share of the cases: one test for each case would start a program for each.
constexpr size_t kShards = 8;

class TextDamage : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    const std::vector<PastedCase> all = AllCases();
    ASSERT_GE(all.size(), 63U);
    for (size_t i = GetParam(); i < all.size(); i += kShards) {
      if (!IsWide(all[i].text)) cases_.push_back(all[i]);  // UTF-16: its forms are those of the other texts
    }
  }
  // "stays or becomes unknown, never the opposite"; a part may be all that is left to see, or all of it.
  static bool Allowed(GpuUsed before, GpuUsed after) {
    if (after == before || after == GpuUsed::kUnknown) return true;
    if (before == GpuUsed::kUnknown) return false;
    return before == GpuUsed::kPartly || after == GpuUsed::kPartly;
  }

  std::vector<PastedCase> cases_;
};

std::vector<std::pair<const char*, std::string>> Forms(const std::string& text) {
  std::vector<std::pair<const char*, std::string>> forms = {
      {"CRLF",
       EachLine(text, [](std::string line) { return (line.empty() || line.back() != '\r') ? line + "\r" : line; })},
      {"byte order mark", "\xEF\xBB\xBF" + text},
      {"trailing blanks", EachLine(text, [](const std::string& line) { return line + "   "; })},
      {"fence", "Here is my output:\n```\n" + text + "\n```\nThanks!\n"},
      {"colour",
       EachLine(text, [](const std::string& line) { return line.empty() ? line : "\x1B[32m" + line + "\x1B[0m"; })},
      {"between prose", "Hello,\nI need help with the following.\n\n" + text + "\n\nWhat is wrong here?\n"}};
  if (text.find('&') == std::string::npos) forms.emplace_back("HTML", Escape(text));
  if (Ascii(text)) forms.emplace_back("UTF-16", Widen(text));
  if (Lines(text).size() >= 3 && text.find("\n>") == std::string::npos && text[0] != '>')
    forms.emplace_back("quotation", EachLine(text, [](const std::string& line) { return "> " + line; }));
  if (Lines(text).size() >= 3) {
    for (const auto& [name, head] : {std::pair{"docker compose", "trainer-1  | "},
                                     {"time stamps", "2024-05-01T10:00:00.1234567Z "},
                                     {"journal", "May 01 10:00:00 box python3[4711]: "},
                                     {"clock", "[10:00:00] "}})
      forms.emplace_back(name, EachLine(text, [start = std::string(head)](const std::string& line) {
                           return line.empty() ? std::string(Trim(start)) : start + line;
                         }));
  }
  return forms;
}

TEST_P(TextDamage, FormChangesNothing) {
  for (const PastedCase& pasted : cases_) {
    const GpuUsed used = Used(pasted.text);
    const std::string cause = Cause(pasted.text);
    for (const auto& [name, form] : Forms(pasted.text)) {
      EXPECT_EQ(Used(form), used) << pasted.name << ": " << name;
      EXPECT_EQ(Cause(form), cause) << pasted.name << ": " << name;
    }
  }
}

// A generator of fixed seed: a failure can be run again.
class Damager {
 public:
  explicit Damager(unsigned seed) : random_(seed) {}

  size_t Below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }

  std::string Damage(const std::string& text) {
    std::vector<std::string> lines;
    for (const std::string_view line : Lines(text)) lines.emplace_back(line);
    if (lines.empty()) return text;
    const auto place = [&](size_t at) { return lines.begin() + static_cast<std::ptrdiff_t>(at); };
    switch (Below(7)) {
      case 0:
        lines.erase(lines.begin(), place(Below(lines.size())));  // the head is lost
        break;
      case 1:
        lines.resize(lines.size() - Below(lines.size()));  // the tail is lost
        break;
      case 2:
        lines.erase(place(Below(lines.size())));
        break;
      case 3:
        CutLine(lines[Below(lines.size())]);
        break;
      case 4:
        return Wrap(text, 72 + 8 * Below(2));
      case 5:
        for (std::string& line : lines) Collapse(line);
        break;
      default:
        for (size_t i = 0; i < 5; ++i) BreakByte(lines[Below(lines.size())]);
    }
    return Join(lines, "\n") + "\n";
  }

 private:
  void CutLine(std::string& line) {
    if (!line.empty()) line.resize(Below(line.size()));
  }
  void BreakByte(std::string& line) {
    if (!line.empty()) line[Below(line.size())] = static_cast<char>(0x80 + Below(0x40));
  }
  static void Collapse(std::string& line) {
    line.erase(std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }), line.end());
  }
  static std::string Wrap(const std::string& text, size_t width) {
    return EachLine(text, [&](std::string line) {
      for (size_t at = width; at < line.size(); at += width + 1) line.insert(at, "\n");
      return line;
    });
  }

  std::mt19937 random_;
};

// For each text; GPUWHY_DAMAGES=1000 looks longer than CI does.
int Damages() {
  const char* wanted = std::getenv("GPUWHY_DAMAGES");
  return wanted == nullptr ? 25 : std::max(1, std::atoi(wanted));
}

TEST_P(TextDamage, LossNeverTurnsTheVerdictRound) {
  Damager damager(20261201 + static_cast<unsigned>(GetParam()));
  for (const PastedCase& pasted : cases_) {
    const GpuUsed used = Used(pasted.text);
    for (int i = 0; i < Damages(); ++i) {
      const std::string damaged = damager.Damage(pasted.text);
      const GpuUsed after = Used(damaged);
      EXPECT_TRUE(Allowed(used, after)) << pasted.name << ": " << GpuUsedName(used) << " became " << GpuUsedName(after)
                                        << " with cause " << Cause(damaged) << " for:\n"
                                        << damaged;
    }
  }
}

// Two texts in one paste: the answer is that of one of them, or none; what neither shows must not come out.
TEST_P(TextDamage, SplicedTextsGiveNoThirdAnswer) {
  Damager damager(7 + static_cast<unsigned>(GetParam()));
  const std::vector<PastedCase> all = AllCases();
  for (const PastedCase& pasted : cases_) {
    const PastedCase& other = all[damager.Below(all.size())];
    if (IsWide(other.text)) continue;
    const GpuUsed both = Used(pasted.text + "\n" + other.text);
    bool allowed = Allowed(Used(pasted.text), both) || Allowed(Used(other.text), both);
    // The build of one text and the machine of the other may truly not fit: PyTorch 1.8 beside an H200.
    const std::string cause = Cause(pasted.text + "\n" + other.text);
    allowed = allowed || cause == "gpu-arch-unsupported" || cause == "driver-too-old";
    EXPECT_TRUE(allowed) << pasted.name << " and " << other.name << " gave " << GpuUsedName(both);
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, TextDamage, testing::Range<size_t>(0, kShards));

}  // namespace
}  // namespace gpuwhy
