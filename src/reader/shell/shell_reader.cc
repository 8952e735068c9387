// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/text.h"
#include "reader/reader.h"
#include "reader/shell/command_line.h"

// Command lines: what was started, with which variables and for which device.
namespace gpuwhy {
namespace {

class Reader {
 public:
  Reader(PastedText& text, EvidenceSink& sink) : text_(text), sink_(sink) {}

  void Read() {
    for (size_t i = 0; i < text_.size(); ++i) {
      const std::string& line = text_[i];
      if (line.empty()) continue;
      if (const auto command = shell::FindCommand(line)) {
        Command(*command, i);
        continue;
      }
      if (const auto variable = shell::ListedVariable(line)) Variable(variable->first, variable->second, i);
      if (!Contains(line, "device")) continue;
      const std::string device = shell::DeviceOfSource(line);
      if (!device.empty()) Add("framework.device_requested", TextJob(), Value::Of(device), i);
    }
  }

 private:
  void Add(const std::string& name, Entity entity, Value value, size_t i) {
    AddQuoted(sink_, name, std::move(entity), std::move(value), Source::kOs, text_.lines()[i]);
    text_.Claim(i);
  }

  void Variable(const std::string& name, const std::string& value, size_t i) {
    Add("process.env." + name, TextJob(), Value::Of(value), i);
  }

  void Command(const shell::CommandLine& command, size_t i) {
    text_.Claim(i);
    if (command.windows) Add("host.os.name", Entity::Host(), Value::Of(std::string("windows")), i);
    for (const auto& [name, value] : shell::Assignments(command)) Variable(name, value, i);
    const auto words = shell::ProgramWords(command);
    if (words.empty()) return;
    const bool container =
        words.size() > 2 && (words[0] == "docker" || words[0] == "podman" || words[0] == "nvidia-docker");
    if (container && words[1] == "run") {
      Add("process.container.command", TextJob(), Value::Of(std::string(command.text)), i);
    } else if (shell::StartsJob(words)) {
      Add("process.command", TextJob(), Value::Of(std::string(command.text)), i);
      const std::string device = shell::RequestedDevice(words);
      if (!device.empty()) Add("framework.device_requested", TextJob(), Value::Of(device), i);
    } else {
      Echo(words, i);
    }
  }

  // `echo $CUDA_VISIBLE_DEVICES` and `printenv NAME`: the next line is the value, an empty one a variable that is empty
  // or not set.
  void Echo(const std::vector<std::string>& words, size_t i) {
    if (words.size() != 2 || (words[0] != "echo" && words[0] != "printenv") || i + 1 >= text_.size()) return;
    std::string name = words[1];
    for (const char* sign : {"${", "$", "%"}) {
      if (name.compare(0, std::string_view(sign).size(), sign) == 0) name.erase(0, std::string_view(sign).size());
    }
    while (!name.empty() && (name.back() == '}' || name.back() == '%')) name.pop_back();
    const std::string value(Trim(text_[i + 1]));
    if (!shell::MattersToGpu(name) || value.empty() || value.find(' ') != std::string::npos) return;
    if (shell::FindCommand(text_[i + 1])) return;
    Variable(name, value, i + 1);
  }

  PastedText& text_;
  EvidenceSink& sink_;
};

void ReadShell(PastedText& text, EvidenceSink& sink) { Reader(text, sink).Read(); }

}  // namespace

extern const ReaderInfo kReader_shell;
constinit const ReaderInfo kReader_shell{"shell", &ReadShell};

}  // namespace gpuwhy
