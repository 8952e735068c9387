// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/arguments.h"
#include "model/page.h"

namespace gpuwhy::cli {
namespace {

struct Row {
  std::string left, right;
};

// Two columns; a left side that is too long gets a line of its own.
std::string Columns(const std::vector<Row>& rows) {
  constexpr size_t kMostLeft = 26;
  size_t width = 0;
  for (const Row& row : rows) {
    if (row.left.size() <= kMostLeft) width = std::max(width, row.left.size());
  }
  std::string out;
  for (const Row& row : rows) {
    const bool fits = row.left.size() <= width;
    out += fits ? Format("  {:<{}}  {}\n", row.left, width, row.right)
                : Format("  {}\n  {:<{}}  {}\n", row.left, "", width, row.right);
  }
  return out;
}

Row FlagRow(const Flag& flag, std::string_view letter) {
  std::string left = letter.empty() ? "" : std::string(letter) + ", ";
  left += flag.name;
  if (!flag.value_name.empty()) left += " " + std::string(flag.value_name);
  return {std::move(left), std::string(flag.help) + (flag.repeatable ? " (may be repeated)" : "")};
}

std::string CommonRows() {
  std::vector<Row> rows;
  for (const CommonFlag& common : CommonFlags()) rows.push_back(FlagRow(common.flag, common.letter));
  return Columns(rows);
}

std::string UsageOf(const Subcommand& subcommand) {
  std::string out = Format("gpuwhy {}", subcommand.name);
  if (!subcommand.flags.empty()) out += " [OPTION]...";
  if (!subcommand.positionals.empty()) out += " " + std::string(subcommand.positionals);
  if (subcommand.takes_command) out += " [--] CMD ARG...";
  return out;
}

}  // namespace

std::string HelpText(const Subcommand* subcommand, const CommandLine& line) {
  if (subcommand != nullptr) {
    std::string out = Format("usage: {}\n\n{}\n", UsageOf(*subcommand), subcommand->summary);
    std::vector<Row> rows;
    for (const Flag& flag : subcommand->flags) rows.push_back(FlagRow(flag, ""));
    if (!rows.empty()) out += "\nOptions:\n" + Columns(rows);
    return out + "\nCommon options:\n" + CommonRows();
  }
  std::vector<Row> rows;
  for (const Subcommand* each : line.subcommands) rows.push_back({std::string(each->name), std::string(each->summary)});
  return "usage: gpuwhy [COMMAND] [OPTION]...\n       gpuwhy -- CMD ARG...          (the same as gpuwhy run -- CMD "
         "ARG...)\n\n"
         "Is my PyTorch, TensorFlow or JAX job really using the GPU? If not, why not? If slowly, why?\n\n"
         "Commands:\n" +
         Columns(rows) + "\nOptions of every command:\n" + CommonRows() +
         "\nExit status: 0 nothing wrong, 1 a finding of warning or error, 2 it could not be done;\n"
         "gpuwhy run ends as the job ended. Help of one command: gpuwhy COMMAND --help\n";
}

std::string VersionText(const CommandLine& line) {
  std::vector<std::string> commands;
  for (const Subcommand* subcommand : line.subcommands) commands.emplace_back(subcommand->name);
  return Format("gpuwhy {}\ncommands: {}\nformats: {}\ncauses: {}\ncompiler: {}\n", kVersion, Join(commands, ", "),
                Join(line.formats, ", "), RulePages().size(), __VERSION__);
}

}  // namespace gpuwhy::cli
