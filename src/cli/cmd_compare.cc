// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdint>
#include <filesystem>

#include "base/format.h"
#include "base/text.h"
#include "cli/deliver.h"
#include "cli/subcommand.h"
#include "report/comparison.h"
#include "session/compare_sessions.h"

namespace gpuwhy::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--fail-on", "slower:N%", "end with 1 when B is surely (its whole interval) more than N % slower than A"},
};

struct Sides {
  std::vector<std::string> before, after;
};

Result<Sides> SidesOf(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positionals;
  const size_t cut = arguments.before_dashes.value_or(0);
  if (cut > 0 && cut < words.size()) {
    const auto middle = words.begin() + static_cast<std::ptrdiff_t>(cut);
    return Sides{{words.begin(), middle}, {middle, words.end()}};
  }
  if (words.size() == 2) return Sides{{words[0]}, {words[1]}};
  return Error{ErrorCode::kUsage,
               Format("{} sessions, and nothing says which are before and which after", words.size()),
               "write gpuwhy compare A1 A2 -- B1 B2"};
}

Result<std::optional<SpeedLimit>> LimitOf(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.Get("--fail-on");
  if (!text) return std::optional<SpeedLimit>();
  constexpr std::string_view kName = "slower:";
  const std::string_view rest = std::string_view(*text).substr(std::min(kName.size(), text->size()));
  const std::optional<double> percent = ParseDouble(rest.substr(0, rest.empty() ? 0 : rest.size() - 1));
  const bool sound =
      text->rfind(kName, 0) == 0 && rest.size() > 1 && rest.back() == '%' && percent && *percent >= 0 && *percent < 100;
  if (!sound)
    return Error{ErrorCode::kUsage, Format("--fail-on does not know '{}'", *text), "write --fail-on slower:3%"};
  return std::optional<SpeedLimit>(SpeedLimit{*text, *percent / 100, std::nullopt});
}

Result<bool> WantsJson(const Arguments& arguments) {
  const bool asked = arguments.Has("--format") || arguments.Has("--json");
  if (!asked && std::filesystem::path(arguments.output).extension() == ".json") return true;
  const std::string& format = arguments.options.format;
  if (format == "json" || format == "text") return format == "json";
  return Error{ErrorCode::kUsage, Format("gpuwhy compare does not write {}", format), "it writes text or json"};
}

// Status 1 needs the whole interval beyond the limit: what may be noise fails no one's build.
int Finish(const Comparison& comparison) {
  if (!comparison.limit) return 0;
  const SpeedLimit& limit = *comparison.limit;
  if (!limit.failed) {
    return Fail(Error{ErrorCode::kNotFound,
                      Format("--fail-on {} cannot be judged: {}", limit.text,
                             report::ComparisonSentence(comparison, report::Language::kEnglish)),
                      "record both with gpuwhy run, for more steps"});
  }
  return *limit.failed ? 1 : 0;
}

int Run(const Arguments& arguments) {
  const Result<bool> json = WantsJson(arguments);
  if (!json) return Fail(json.error());
  const Result<Sides> sides = SidesOf(arguments);
  if (!sides) return Fail(sides.error());
  Result<std::optional<SpeedLimit>> limit = LimitOf(arguments);
  if (!limit) return Fail(limit.error());
  Result<Comparison> comparison = CompareSessions(sides->before, sides->after);
  if (!comparison) return Fail(comparison.error());
  comparison->limit = std::move(*limit);
  if (comparison->limit && comparison->ratio && comparison->ratio->high)
    comparison->limit->failed = *comparison->ratio->high < 1 - comparison->limit->slower;
  const report::Options options = OptionsFor(arguments, STDOUT_FILENO);
  const std::string text =
      *json ? report::ComparisonJson(*comparison, options) : report::ComparisonText(*comparison, options);
  if (const Result<void> done = WriteResult(text, arguments); !done) return Fail(done.error());
  return Finish(*comparison);
}

}  // namespace

extern const Subcommand kSubcommand_compare;
constinit const Subcommand kSubcommand_compare{
    .name = "compare",
    .summary = "Compare recorded sessions before and after a change: speed with interval, buckets, settings, findings",
    .positionals = "A B | A... -- B...",
    .min_positionals = 2,
    .max_positionals = SIZE_MAX,
    .takes_command = false,
    .flags = kFlags,
    .run = &Run};

}  // namespace gpuwhy::cli
