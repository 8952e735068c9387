// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <gtest/gtest.h>

#include "cli/nearest.h"

namespace gpuwhy::cli {
namespace {

int Nothing(const Arguments&) { return 0; }

constexpr Flag kRunFlags[] = {
    {"--session", "FILE", "record to FILE"}, {"--for", "S", "seconds"}, {"--stop-on", "WHAT", "stop"}};
constexpr Flag kDoctorFlags[] = {{"--python", "EXE", "an interpreter", true}, {"--share", "", "for a forum"}};
constexpr Subcommand kDoctor{"doctor", "checks", "", 0, 0, false, kDoctorFlags, &Nothing};
constexpr Subcommand kExplain{"explain", "reads", "FILE...", 1, 99, false, {}, &Nothing};
constexpr Subcommand kRun{"run", "runs", "", 0, 0, true, kRunFlags, &Nothing};
constexpr Subcommand kSnapshot{"snapshot", "looks", "", 0, 0, false, {}, &Nothing};
constexpr const Subcommand* kAll[] = {&kDoctor, &kExplain, &kRun, &kSnapshot};

CommandLine Line(std::string locale = "") { return {kAll, {"json", "text"}, std::move(locale), true}; }

Invocation Good(const std::vector<std::string>& words, const CommandLine& line = Line()) {
  Result<Invocation> result = ParseArguments(words, line);
  EXPECT_TRUE(result) << (result ? "" : result.error().Line());
  return result ? *result : Invocation{};
}

std::string Bad(const std::vector<std::string>& words) {
  const Result<Invocation> result = ParseArguments(words, Line());
  EXPECT_FALSE(result);
  if (result) return "";
  EXPECT_EQ(result.error().code, ErrorCode::kUsage);
  EXPECT_EQ(result.error().Line().find('\n'), std::string::npos);
  return result.error().Line();
}

using Words = std::vector<std::string>;

TEST(Arguments, NothingIsSnapshot) { EXPECT_EQ(Good({}).subcommand, &kSnapshot); }

TEST(Arguments, OptionsStandBeforeOrAfter) {
  for (const Words& words :
       {Words{"--json", "explain", "a"}, Words{"explain", "--json", "a"}, Words{"explain", "a", "--format=json"}}) {
    const Invocation invocation = Good(words);
    EXPECT_EQ(invocation.subcommand, &kExplain);
    EXPECT_EQ(invocation.arguments.options.format, "json");
    EXPECT_EQ(invocation.arguments.positionals, Words{"a"});
  }
  EXPECT_EQ(*Good({"--session", "s", "run", "true"}).arguments.Get("--session"), "s");
}

TEST(Arguments, TheCommandIsUntouched) {
  const Words command = {"python", "train.py", "--lr", "1", "--json", "-q", "--", "x"};
  for (const Words& before :
       {Words{"run"}, Words{"run", "--"}, Words{"--"}, Words{"run", "--for", "3", "-q"}, Words{"--for", "3", "--"}}) {
    Words words = before;
    words.insert(words.end(), command.begin(), command.end());
    const Invocation invocation = Good(words);
    EXPECT_EQ(invocation.subcommand, &kRun);
    EXPECT_EQ(invocation.arguments.command, command);
    EXPECT_EQ(invocation.arguments.options.format, "text");
  }
  EXPECT_EQ(Good({"run", "--", "--odd"}).arguments.command, Words{"--odd"});
}

TEST(Arguments, DashIsAPositionalAndDoubleDashEndsOptions) {
  EXPECT_EQ(Good({"explain", "-"}).arguments.positionals, Words{"-"});
  EXPECT_EQ(Good({"explain", "--", "--json"}).arguments.positionals, Words{"--json"});
}

TEST(Arguments, LettersAndValues) {
  const Arguments arguments = Good({"explain", "-qv", "-oreport.json", "a"}).arguments;
  EXPECT_TRUE(arguments.quiet && arguments.verbose && arguments.options.verbose);
  EXPECT_EQ(arguments.output, "report.json");
  EXPECT_EQ(Good({"explain", "a", "-o", "-"}).arguments.output, "");
  EXPECT_EQ(Good({"doctor", "--python", "a", "--python=b"}).arguments.All("--python"), (Words{"a", "b"}));
}

TEST(Arguments, LanguageComesFromTheLocaleUnlessNamed) {
  using report::Language;
  EXPECT_EQ(Good({}, Line("zh_CN.UTF-8")).arguments.options.language, Language::kChinese);
  EXPECT_EQ(Good({}, Line("C")).arguments.options.language, Language::kEnglish);
  EXPECT_EQ(Good({"--lang", "en"}, Line("zh_CN.UTF-8")).arguments.options.language, Language::kEnglish);
}

TEST(Arguments, ColourIsOffWhenAskedOrWhenTheEnvironmentSaysSo) {
  EXPECT_TRUE(Good({}).arguments.options.color);
  EXPECT_FALSE(Good({"--no-color"}).arguments.options.color);
  CommandLine line = Line();
  line.color = false;
  EXPECT_FALSE(Good({}, line).arguments.options.color);
}

TEST(Arguments, TheUnknownIsRefusedWithTheNearest) {
  EXPECT_EQ(Bad({"docter"}), "unknown command 'docter'; did you mean 'doctor'?");
  EXPECT_EQ(Bad({"doctor", "--pyhton", "x"}), "unknown option '--pyhton' of gpuwhy doctor; did you mean '--python'?");
  EXPECT_EQ(Bad({"--session", "x", "doctor"}),
            "unknown option '--session' of gpuwhy doctor; did you mean '--version'?");
  EXPECT_EQ(Bad({"--fromat", "json"}), "unknown option '--fromat'; did you mean '--format'?");
  EXPECT_EQ(Bad({"--format", "jsno"}), "unknown format 'jsno'; did you mean 'json'?");
  EXPECT_EQ(Bad({"--lang", "zn"}), "unknown language 'zn'; did you mean 'en'?");
  EXPECT_EQ(Bad({"doctor", "share"}), "unexpected argument 'share' of gpuwhy doctor; did you mean '--share'?");
  EXPECT_EQ(Bad({"-x"}), "unknown option '-x'; did you mean '--json'?");
}

TEST(Arguments, WhatIsMissingOrTooMuchIsNamed) {
  EXPECT_EQ(Bad({"explain"}), "gpuwhy explain needs FILE...; write gpuwhy explain FILE...");
  EXPECT_EQ(Bad({"run"}), "gpuwhy run needs a command; write gpuwhy run -- CMD ARG...");
  EXPECT_EQ(Bad({"run", "--"}), "gpuwhy run needs a command; write gpuwhy run -- CMD ARG...");
  EXPECT_EQ(Bad({"--lang"}), "--lang needs a value; write --lang LANG");
  EXPECT_EQ(Bad({"--lang", "--json"}), "--lang needs a value; write --lang LANG");
  EXPECT_EQ(Bad({"--lang="}), "--lang has an empty value; write --lang LANG");
  EXPECT_EQ(Bad({"--json=1"}), "--json takes no value; write --json alone");
  EXPECT_EQ(Bad({"-o", "a", "-o", "b"}), "--output is given twice; give it once");
  EXPECT_EQ(Bad({"--json", "--format", "text"}), "--json and another --format contradict each other; give one of them");
}

TEST(Arguments, HelpAndVersionAskForNothingElse) {
  EXPECT_NE(Good({"explain", "--help"}).text.find("usage: gpuwhy explain FILE..."), std::string::npos);
  EXPECT_NE(Good({"run", "-h"}).text.find("--session FILE"), std::string::npos);
  EXPECT_NE(Good({"help", "run"}).text.find("usage: gpuwhy run"), std::string::npos);
  EXPECT_NE(Good({"--help"}).text.find("doctor"), std::string::npos);
  EXPECT_NE(Good({"--version"}).text.find("formats: json, text"), std::string::npos);
}

TEST(Nearest, CountsEditsAndPrefersBeginnings) {
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("ab", "ba"), 1U);
  EXPECT_EQ(Nearest("sna", {"run", "doctor", "snapshot"}), "snapshot");
  EXPECT_EQ(Nearest("x", {}), "");
}

}  // namespace
}  // namespace gpuwhy::cli
