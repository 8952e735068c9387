// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_READER_SHELL_COMMAND_LINE_H_
#define GPUWHY_READER_SHELL_COMMAND_LINE_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Command lines as people paste them: behind a prompt of bash, zsh, cmd.exe or PowerShell, or without one.
namespace gpuwhy::shell {

struct CommandLine {
  std::string_view text;  // without the prompt
  bool prompt = false;    // a prompt stands in front, so that it is a command for certain
  bool windows = false;   // the prompt is one of Windows ("C:\>", "PS D:\work>")
};

// The command of a line; nothing when the line is none. Without a prompt only a line that begins like the start of a
// job (python x.py, torchrun, NAME=value python ...) counts.
std::optional<CommandLine> FindCommand(std::string_view line);

// Words as a shell splits them: quotes hold blanks together and are taken away.
std::vector<std::string> Words(std::string_view command);

using Assignment = std::pair<std::string, std::string>;

// Variables that a command sets, in front of a program, by export, set, setx, $env:, %env, env or docker's -e; only
// those that a GPU job may care about.
std::vector<Assignment> Assignments(const CommandLine& command);

// NAME=value as `env` and `printenv` list it, alone on a line.
std::optional<Assignment> ListedVariable(std::string_view line);

// Does the name belong to CUDA, a framework or the loader of libraries?
bool MattersToGpu(std::string_view name);

// The words of the program that runs, without assignments, sudo, time and the like in front of it.
std::vector<std::string> ProgramWords(const CommandLine& command);

// A program whose words start a job, as opposed to one that only asks (nvidia-smi, pip, cat ...).
bool StartsJob(const std::vector<std::string>& words);

// "cpu", "cuda", "cuda:0" ... that an option demands (--device cpu, device=cpu, --no-cuda, -ngl 0); "" without one.
std::string RequestedDevice(const std::vector<std::string>& words);

// The same of a line of Python: device='cpu', torch.device("cuda:0"); "" without one.
std::string DeviceOfSource(std::string_view line);

}  // namespace gpuwhy::shell

#endif  // GPUWHY_READER_SHELL_COMMAND_LINE_H_
