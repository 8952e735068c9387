// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
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

void PrintTo(const PastedCase& pasted, std::ostream* out) { *out << pasted.name; }

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

class TextDamage : public testing::TestWithParam<PastedCase> {
 protected:
  void SetUp() override {
    if (IsWide(GetParam().text)) GTEST_SKIP() << "UTF-16: its forms are those of the other texts";
  }
  // "stays or becomes unknown, never the opposite"; a part may be all that is left to see, or all of it.
  static bool Allowed(GpuUsed before, GpuUsed after) {
    if (after == before || after == GpuUsed::kUnknown) return true;
    if (before == GpuUsed::kUnknown) return false;
    return before == GpuUsed::kPartly || after == GpuUsed::kPartly;
  }
};

TEST_P(TextDamage, FormChangesNothing) {
  const std::string& text = GetParam().text;
  const GpuUsed used = Used(text);
  const std::string cause = Cause(text);
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
  for (const auto& [name, form] : forms) {
    EXPECT_EQ(Used(form), used) << name;
    EXPECT_EQ(Cause(form), cause) << name;
  }
}

// Lines are taken out, cut, wrapped and mixed with noise by a generator of fixed seed: a failure can be run again.
std::string Damage(const std::string& text, std::mt19937& random) {
  const auto below = [&](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); };
  std::vector<std::string> lines;
  for (const std::string_view line : Lines(text)) lines.emplace_back(line);
  if (lines.empty()) return text;
  switch (below(7)) {
    case 0:  // head lost
      lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())));
      break;
    case 1:  // tail lost
      lines.resize(lines.size() - below(lines.size()));
      break;
    case 2:  // one line lost
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())));
      break;
    case 3: {  // one line cut
      std::string& line = lines[below(lines.size())];
      if (!line.empty()) line.resize(below(line.size()));
      break;
    }
    case 4:  // wrapped
      return EachLine(text, [&](std::string line) {
        const size_t width = 72 + below(2) * 8;
        for (size_t at = width; at < line.size(); at += width + 1) line.insert(at, "\n");
        return line;
      });
    case 5:  // blanks collapsed
      for (std::string& line : lines) {
        line.erase(std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
                   line.end());
      }
      break;
    default:  // broken bytes
      for (size_t i = 0; i < 5; ++i) {
        std::string& line = lines[below(lines.size())];
        if (!line.empty()) line[below(line.size())] = static_cast<char>(0x80 + below(0x40));
      }
  }
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST_P(TextDamage, LossNeverTurnsTheVerdictRound) {
  const GpuUsed used = Used(GetParam().text);
  std::mt19937 random(20261201);
  for (int i = 0; i < 40; ++i) {
    const std::string damaged = Damage(GetParam().text, random);
    const GpuUsed after = Used(damaged);
    EXPECT_TRUE(Allowed(used, after)) << GpuUsedName(used) << " became " << GpuUsedName(after) << " with cause "
                                      << Cause(damaged) << " for:\n"
                                      << damaged;
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, TextDamage, testing::ValuesIn(AllCases()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace gpuwhy
