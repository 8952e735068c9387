// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <algorithm>
#include <utility>

#include "base/environment.h"
#include "base/file.h"
#include "base/format.h"
#include "cli/nearest.h"

namespace gpuwhy::cli {
namespace {

constexpr CommonFlag kCommonFlags[] = {
    {{"--format", "NAME", "output format: text (default) or json"}, ""},
    {{"--json", "", "short for --format json"}, ""},
    {{"--lang", "LANG", "language of the texts: en or zh (default from the locale)"}, ""},
    {{"--no-color", "", "no colours, also when the output is a terminal (NO_COLOR does the same)"}, ""},
    {{"--output", "FILE", "write the result to FILE; its extension chooses the format"}, "-o"},
    {{"--quiet", "", "no notes on stderr"}, "-q"},
    {{"--verbose", "", "also every fact, every metric and how each rule answered"}, "-v"},
    {{"--help", "", "this help"}, "-h"},
    {{"--version", "", "version and what is compiled in"}, ""},
};

Error Usage(std::string message, std::string hint) { return {ErrorCode::kUsage, std::move(message), std::move(hint)}; }

class Parser {
 public:
  Parser(const std::vector<std::string>& words, const CommandLine& line) : words_(words), line_(line) {}

  Result<Invocation> Run() {
    for (at_ = 0; at_ < words_.size() && !ended_; ++at_) {
      if (const Result<void> done = Word(words_[at_]); !done) return done.error();
    }
    // `gpuwhy --help` is about the program, not about the command that stands for no command.
    help_ = help_ || (out_.subcommand == nullptr && out_.arguments.Has("--help"));
    if (out_.subcommand == nullptr && !help_) out_.subcommand = Find("snapshot");
    if (const Result<void> done = Finish(); !done) return done.error();
    return std::move(out_);
  }

 private:
  Result<void> Word(const std::string& word) {
    if (only_positionals_) {
      out_.arguments.positionals.push_back(word);
    } else if (word == "--") {
      return DoubleDash();
    } else if (word.size() > 1 && word[0] == '-') {
      return Option(word);
    } else if (out_.subcommand == nullptr) {
      return Name(word);
    } else if (out_.subcommand->takes_command) {
      TakeCommand(at_);
    } else {
      out_.arguments.positionals.push_back(word);
    }
    return {};
  }

  void TakeCommand(size_t from) {
    out_.arguments.command.assign(words_.begin() + static_cast<std::ptrdiff_t>(from), words_.end());
    ended_ = true;
  }

  Result<void> DoubleDash() {
    if (out_.subcommand == nullptr) out_.subcommand = Find("run");
    if (out_.subcommand != nullptr && out_.subcommand->takes_command) {
      TakeCommand(at_ + 1);
    } else {
      only_positionals_ = true;
      out_.arguments.before_dashes = out_.arguments.positionals.size();
    }
    return {};
  }

  Result<void> Name(const std::string& word) {
    if (word == "help") {
      help_ = true;
      return {};
    }
    out_.subcommand = Find(word);
    if (out_.subcommand != nullptr) return {};
    if (FileExists(word))
      return Usage(Format("unknown command '{}'", word), Format("to read that file: gpuwhy explain {}", word));
    std::vector<std::string> names{"help"};
    for (const Subcommand* subcommand : line_.subcommands) names.emplace_back(subcommand->name);
    return Usage(Format("unknown command '{}'", word), Format("did you mean '{}'?", Nearest(word, names)));
  }

  Result<void> Option(const std::string& word) {
    const bool is_long = word[1] == '-';
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    std::string name = word.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (!is_long) {
      const Flag* flag = Letter(word.substr(0, 2));
      if (flag == nullptr) return Unknown(name);
      name = flag->name;
      if (word.size() > 2 && flag->value_name.empty()) return Letters(word);
      if (word.size() > 2) value = word.substr(word[2] == '=' ? 3 : 2);
    }
    return Set(name, std::move(value));
  }

  // "-qv": several switches in one word.
  Result<void> Letters(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const Flag* flag = Letter({'-', word[i]});
      if (flag == nullptr || !flag->value_name.empty()) return Unknown(word);
      if (const Result<void> done = Set(std::string(flag->name), std::nullopt); !done) return done;
    }
    return {};
  }

  Result<void> Set(const std::string& name, std::optional<std::string> value) {
    const Flag* flag = Known(name);
    if (flag == nullptr) return Unknown(name);
    std::vector<std::string>& values = out_.arguments.flags[name];
    if (flag->value_name.empty()) {
      if (value) return Usage(Format("{} takes no value", name), Format("write {} alone", name));
      if (values.empty()) values.emplace_back();
      return {};
    }
    if (!value) {
      const bool missing = at_ + 1 >= words_.size() || words_[at_ + 1].substr(0, 2) == "--";
      if (missing) return Usage(Format("{} needs a value", name), Format("write {} {}", name, flag->value_name));
      value = words_[++at_];
    }
    if (value->empty())
      return Usage(Format("{} has an empty value", name), Format("write {} {}", name, flag->value_name));
    if (!values.empty() && !flag->repeatable) return Usage(Format("{} is given twice", name), "give it once");
    values.push_back(std::move(*value));
    return {};
  }

  const Subcommand* Find(std::string_view name) const {
    for (const Subcommand* subcommand : line_.subcommands) {
      if (subcommand->name == name) return subcommand;
    }
    return nullptr;
  }

  static const Flag* Letter(const std::string& letter) {
    for (const CommonFlag& common : kCommonFlags) {
      if (!common.letter.empty() && common.letter == letter) return &common.flag;
    }
    return nullptr;
  }

  static const Flag* In(const Subcommand& subcommand, std::string_view name) {
    for (const Flag& flag : subcommand.flags) {
      if (flag.name == name) return &flag;
    }
    return nullptr;
  }

  static const Flag* Common(std::string_view name) {
    for (const CommonFlag& common : kCommonFlags) {
      if (common.flag.name == name) return &common.flag;
    }
    return nullptr;
  }

  // Before the subcommand is known any subcommand's flag counts; Finish() checks that it belongs to the one that came.
  const Flag* Known(std::string_view name) const {
    if (const Flag* flag = Common(name)) return flag;
    if (out_.subcommand != nullptr) return In(*out_.subcommand, name);
    for (const Subcommand* subcommand : line_.subcommands) {
      if (const Flag* flag = In(*subcommand, name)) return flag;
    }
    return nullptr;
  }

  Error Unknown(const std::string& name) const {
    std::vector<std::string> names;
    if (out_.subcommand != nullptr) {
      for (const Flag& flag : out_.subcommand->flags) names.emplace_back(flag.name);
    }
    for (const CommonFlag& common : kCommonFlags) names.emplace_back(common.flag.name);
    const std::string of = out_.subcommand != nullptr ? Format(" of gpuwhy {}", out_.subcommand->name) : "";
    return Usage(Format("unknown option '{}'{}", name, of), Format("did you mean '{}'?", Nearest(name, names)));
  }

  Result<void> Finish() {
    const Arguments& arguments = out_.arguments;
    if (arguments.Has("--version")) {
      out_.text = VersionText(line_);
      return {};
    }
    if (help_ || arguments.Has("--help")) {
      out_.text = HelpText(out_.subcommand, line_);
      return {};
    }
    if (out_.subcommand == nullptr) return Usage("no command given", "see gpuwhy --help");
    for (const auto& [name, values] : arguments.flags) {
      if (Known(name) == nullptr) return Unknown(name);
    }
    if (const Result<void> done = Words(); !done) return done;
    return Options();
  }

  Result<void> Words() const {
    const Subcommand& subcommand = *out_.subcommand;
    const std::vector<std::string>& words = out_.arguments.positionals;
    const std::string usage =
        Format("gpuwhy {} {}", subcommand.name, subcommand.takes_command ? "-- CMD ARG..." : subcommand.positionals);
    if (subcommand.takes_command && out_.arguments.command.empty()) {
      return Usage(Format("gpuwhy {} needs a command", subcommand.name), "write " + usage);
    }
    if (words.size() < subcommand.min_positionals) {
      return Usage(Format("gpuwhy {} needs {}", subcommand.name, subcommand.positionals), "write " + usage);
    }
    if (words.size() <= subcommand.max_positionals) return {};
    const std::string& extra = words[subcommand.max_positionals];
    std::vector<std::string> names;
    for (const Flag& flag : subcommand.flags) names.emplace_back(flag.name);
    for (const CommonFlag& common : kCommonFlags) names.emplace_back(common.flag.name);
    return Usage(Format("unexpected argument '{}' of gpuwhy {}", extra, subcommand.name),
                 Format("did you mean '{}'?", Nearest("--" + extra, names)));
  }

  Result<void> Options() {
    Arguments& arguments = out_.arguments;
    const std::string language = arguments.Get("--lang").value_or(line_.locale.substr(0, 2) == "zh" ? "zh" : "en");
    if (language != "en" && language != "zh") {
      return Usage(Format("unknown language '{}'", language),
                   Format("did you mean '{}'?", Nearest(language, {"en", "zh"})));
    }
    const std::string format = arguments.Has("--json") ? "json" : arguments.Get("--format").value_or("text");
    if (std::find(line_.formats.begin(), line_.formats.end(), format) == line_.formats.end()) {
      return Usage(Format("unknown format '{}'", format), Format("did you mean '{}'?", Nearest(format, line_.formats)));
    }
    if (arguments.Has("--json") && arguments.Get("--format").value_or("json") != "json") {
      return Usage("--json and another --format contradict each other", "give one of them");
    }
    arguments.options.language = language == "zh" ? report::Language::kChinese : report::Language::kEnglish;
    arguments.options.format = format;
    arguments.options.color = line_.color && !arguments.Has("--no-color");
    arguments.quiet = arguments.Has("--quiet");
    arguments.verbose = arguments.options.verbose = arguments.Has("--verbose");
    arguments.output = arguments.Get("--output").value_or("");
    if (arguments.output == "-") arguments.output.clear();
    return {};
  }

  const std::vector<std::string>& words_;
  const CommandLine& line_;
  Invocation out_;
  size_t at_ = 0;
  bool only_positionals_ = false, ended_ = false, help_ = false;
};

}  // namespace

std::optional<std::string> Arguments::Get(std::string_view flag) const {
  const auto found = flags.find(flag);
  return found == flags.end() || found->second.empty() ? std::nullopt
                                                       : std::optional<std::string>(found->second.back());
}

std::vector<std::string> Arguments::All(std::string_view flag) const {
  const auto found = flags.find(flag);
  return found == flags.end() ? std::vector<std::string>{} : found->second;
}

std::span<const CommonFlag> CommonFlags() { return kCommonFlags; }

CommandLine RealCommandLine() {
  CommandLine line;
  line.subcommands = AllSubcommands();
  for (const report::Reporter* reporter : report::AllReporters()) line.formats.emplace_back(reporter->name);
  // The first of these that is not empty counts (POSIX, "Environment Variables", 8.2).
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    if (line.locale.empty()) line.locale = Environment(name).value_or("");
  }
  line.color = Environment("NO_COLOR").value_or("").empty() && Environment("TERM").value_or("dumb") != "dumb";
  return line;
}

Result<Invocation> ParseArguments(const std::vector<std::string>& words, const CommandLine& line) {
  return Parser(words, line).Run();
}

}  // namespace gpuwhy::cli
