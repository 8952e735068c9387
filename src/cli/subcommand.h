// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_CLI_SUBCOMMAND_H_
#define GPUWHY_CLI_SUBCOMMAND_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"
#include "report/reporter.h"

namespace gpuwhy::cli {

// A flag of one subcommand, as data: parser, help and completion come from it.
struct Flag {
  std::string_view name;        // "--session"
  std::string_view value_name;  // "FILE"; empty = a switch
  std::string_view help;
  bool repeatable = false;
};

struct Arguments {
  std::map<std::string, std::vector<std::string>, std::less<>> flags;  // by name with dashes
  std::vector<std::string> positionals;
  std::optional<size_t> before_dashes;  // how many of the positionals stood before a "--"
  std::vector<std::string> command;     // what stands behind "--" (or behind the flags) where takes_command

  bool Has(std::string_view flag) const { return flags.find(flag) != flags.end(); }
  std::optional<std::string> Get(std::string_view flag) const;
  std::vector<std::string> All(std::string_view flag) const;
  // Options that every subcommand takes.
  report::Options options;  // format, language, colour
  std::string output;       // -o FILE, empty = stdout
  bool quiet = false;
  bool verbose = false;
};

struct Subcommand {
  std::string_view name;
  std::string_view summary;      // one line for `gpuwhy --help`
  std::string_view positionals;  // "FILE..." for the usage line, empty = none allowed
  size_t min_positionals = 0, max_positionals = 0;
  bool takes_command = false;  // the rest of the line is a command to run
  std::span<const Flag> flags;
  int (*run)(const Arguments& arguments);
};

// All subcommands sorted by file name (generated from src/cli/cmd_*.cc: constant kSubcommand_<name>).
std::span<const Subcommand* const> AllSubcommands();

// Prints `error` as "gpuwhy: what: why; what to do" on stderr and returns 2, the status for "could not do it". The
// words are those of `language` where locale/ has them.
int Fail(const Error& error, report::Language language = report::Language::kEnglish);

// Writes a report where -o says, in the asked format; returns 0, 1 or 2 as the contract of exit statuses wants.
int Deliver(const Report& report, const Arguments& arguments);

}  // namespace gpuwhy::cli

#endif  // GPUWHY_CLI_SUBCOMMAND_H_
