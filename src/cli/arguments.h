// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_CLI_ARGUMENTS_H_
#define GPUWHY_CLI_ARGUMENTS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/subcommand.h"

namespace gpuwhy::cli {

// What a command line is read against; a value so that tests need neither environment nor the real commands.
struct CommandLine {
  std::span<const Subcommand* const> subcommands;
  std::vector<std::string> formats;  // names of the outputs
  std::string locale;                // the first set of LC_ALL, LC_MESSAGES and LANG
  bool color = true;                 // false under NO_COLOR or a terminal that has none
};

CommandLine RealCommandLine();

struct Invocation {
  const Subcommand* subcommand = nullptr;
  Arguments arguments;
  std::string text;  // not empty: print this (help, version) and end with 0
};

// Options that every subcommand takes, with their one-letter forms.
struct CommonFlag {
  Flag flag;
  std::string_view letter;  // "-o", or empty
};
std::span<const CommonFlag> CommonFlags();

// Reads the words behind the program's name. Options may stand before or after the subcommand; where a subcommand takes
// a command, everything from "--" or from the first word that is no option on belongs to that command, untouched.
// Without a subcommand: "run" when there is a "--", else "snapshot". kUsage with the nearest valid word for an unknown
// one.
Result<Invocation> ParseArguments(const std::vector<std::string>& words, const CommandLine& line);

// Texts of --help (of the program when `subcommand` is nullptr) and --version.
std::string HelpText(const Subcommand* subcommand, const CommandLine& line);
std::string VersionText(const CommandLine& line);

}  // namespace gpuwhy::cli

#endif  // GPUWHY_CLI_ARGUMENTS_H_
