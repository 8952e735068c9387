// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/shell/command_line.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gpuwhy::shell {
namespace {

using namespace std::string_view_literals;

bool StartsWith(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

template <size_t n>
bool In(const std::array<std::string_view, n>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Name of a program without its folder and ".exe".
std::string_view BaseName(std::string_view word) {
  const size_t slash = word.find_last_of("/\\");
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  if (word.size() > 4 && word.substr(word.size() - 4) == ".exe") word.remove_suffix(4);
  return word;
}

bool IsPython(std::string_view word) {
  const std::string_view name = BaseName(word);
  return StartsWith(name, "python") ? name.find_first_not_of("0123456789.", 6) == std::string_view::npos : name == "py";
}

// Programs that start jobs; without a prompt only a line that begins with one of them is taken for a command.
constexpr std::array kLaunchers = {"torchrun"sv, "accelerate"sv,  "deepspeed"sv,     "mpirun"sv, "mpiexec"sv,
                                   "srun"sv,     "docker"sv,      "nvidia-docker"sv, "podman"sv, "yolo"sv,
                                   "nohup"sv,    "singularity"sv, "apptainer"sv};
// Programs that ask or prepare and are no job.
constexpr std::array kTools = {"nvidia-smi"sv, "nvcc"sv,       "cat"sv,       "ls"sv,
                               "pip"sv,        "pip3"sv,       "conda"sv,     "mamba"sv,
                               "lsmod"sv,      "dmesg"sv,      "modinfo"sv,   "which"sv,
                               "whereis"sv,    "ldconfig"sv,   "mokutil"sv,   "apt"sv,
                               "dpkg"sv,       "apt-get"sv,    "systemctl"sv, "export"sv,
                               "set"sv,        "setx"sv,       "echo"sv,      "cd"sv,
                               "grep"sv,       "nvtop"sv,      "watch"sv,     "ps"sv,
                               "top"sv,        "lspci"sv,      "modprobe"sv,  "uname"sv,
                               "docker"sv,     "podman"sv,     "source"sv,    "nvidia-docker"sv,
                               "printenv"sv,   "env"sv,        "find"sv,      "lsb_release"sv,
                               "git"sv,        "journalctl"sv, "htop"sv,      "free"sv,
                               "df"sv,         "lscpu"sv,      "where"sv,     "nvitop"sv,
                               "gpustat"sv,    "rocm-smi"sv,   "rmmod"sv,     "update-initramfs"sv,
                               "exit"sv,       "ipython"sv};
constexpr std::array kWrappers = {"sudo"sv, "time"sv, "nohup"sv, "env"sv, "exec"sv, "nice"sv, "stdbuf"sv, "numactl"sv};

bool IsName(std::string_view name) {
  if (name.empty() || (!IsLetter(name[0]) && name[0] != '_')) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLetter(c) || c == '_' || (c >= '0' && c <= '9'); });
}

std::optional<Assignment> AsAssignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos || !IsName(word.substr(0, equals))) return std::nullopt;
  return Assignment{std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
}

// "(base) " of conda and virtual environments.
std::string_view WithoutEnvironment(std::string_view line) {
  const size_t close = line.empty() || line[0] != '(' ? std::string_view::npos : line.find(") ");
  const bool begins = close != std::string_view::npos && close < 40;
  return begins ? Trim(line.substr(close + 2)) : line;
}

// C:\> or C:\Users\me>, perhaps with "PS " in front: what follows it.
std::optional<CommandLine> WindowsPrompt(std::string_view line) {
  if (StartsWith(line, "PS ")) line.remove_prefix(3);
  if (line.size() < 4 || !IsLetter(line[0]) || line.substr(1, 2) != ":\\") return std::nullopt;
  const size_t end = line.find('>');
  if (end == std::string_view::npos || end > 120) return std::nullopt;
  return CommandLine{Trim(line.substr(end + 1)), true, true};
}

// user@host:~/x$, root@host:/#, [user@host x]$, user@mac x %: what follows it.
std::optional<CommandLine> UserPrompt(std::string_view line) {
  const size_t at = line.substr(0, 41).find_first_of("@ ");
  if (at == std::string_view::npos || at == 0 || line[at] != '@') {
    return std::nullopt;
  }
  for (size_t i = at; i + 1 < line.size() && i < 160; ++i) {
    if ((line[i] == '$' || line[i] == '#' || line[i] == '%') && line[i + 1] == ' ') {
      return CommandLine{Trim(line.substr(i + 2)), true, false};
    }
  }
  return std::nullopt;
}

// Without a prompt: python with a script or option, a launcher with arguments, a program of the working folder.
bool BeginsJob(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  if (IsPython(words[0])) {
    return words.size() > 1 && (words[1][0] == '-' || Contains(words[1], ".py"));
  }
  return (In(kLaunchers, words[0]) && words.size() > 1) || StartsWith(words[0], "./");
}

// By the first word alone: most lines of a text end here.
bool MayBeginJob(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  return word.size() < text.size() && (StartsWith(word, "./") || IsPython(word) || In(kLaunchers, word) ||
                                       In(kWrappers, word) || AsAssignment(word).has_value());
}

bool IsSetter(std::string_view text) {
  for (const std::string_view begin : {"export "sv, "set "sv, "setx "sv, "$env:"sv, "$Env:"sv, "%env "sv, "ENV "sv}) {
    if (StartsWith(text, begin)) return Contains(text, "=") || begin == "setx ";
  }
  return false;
}

std::string Normal(std::string_view device) {
  std::string lower = Lower(device);
  if (lower == "gpu") return "cuda";
  const bool digits = !lower.empty() && lower.find_first_not_of("0123456789") == std::string::npos;
  if (digits) return "cuda:" + lower;
  const bool known = lower == "cpu" || lower == "mps" || lower == "cuda" || StartsWith(lower, "cuda:");
  return known ? lower : "";
}

}  // namespace

bool MattersToGpu(std::string_view name) {
  for (const std::string_view begin :
       {"CUDA_"sv, "NVIDIA_"sv, "LD_LIBRARY_PATH"sv, "LD_PRELOAD"sv, "TF_"sv, "XLA_"sv, "JAX_"sv, "PYTORCH_"sv,
        "TORCH_"sv, "NCCL_"sv, "HIP_"sv, "ROCR_"sv, "HSA_"sv, "OMP_"sv, "MKL_"sv, "OLLAMA_"sv, "GGML_"sv}) {
    if (StartsWith(name, begin)) return true;
  }
  return false;
}

std::vector<std::string> Words(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool open = false;
  for (const char c : command.substr(0, 4000)) {
    if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? 0 : c;
      open = true;
    } else if (quote == 0 && (c == ' ' || c == '\t')) {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

std::optional<CommandLine> FindCommand(std::string_view line) {
  line = WithoutEnvironment(Trim(line));
  if (line.empty() || line.size() > 4000) return std::nullopt;
  if (const auto windows = WindowsPrompt(line)) return windows;
  if (StartsWith(line, "$ ") || StartsWith(line, "% ")) return CommandLine{Trim(line.substr(2)), true, false};
  for (const std::string_view arrow : {"❯ "sv, "➜ "sv}) {
    if (StartsWith(line, arrow)) return CommandLine{Trim(line.substr(arrow.size())), true, false};
  }
  const std::string_view user = line[0] == '[' ? line.substr(1) : line;
  if (const auto found = UserPrompt(user)) return found;
  // "# " begins a comment or a title as often as a command of root, "> " a quotation: the words decide.
  const bool weak = StartsWith(line, "# ") || StartsWith(line, "> ") || StartsWith(line, "! ");
  const std::string_view text = weak ? Trim(line.substr(2)) : line[0] == '!' ? line.substr(1) : line;
  const CommandLine command{text, false, false};
  if (IsSetter(text) && !weak) return command;
  if (weak && line[0] == '#') {
    const std::vector<std::string> words = Words(text);
    const bool tool = !words.empty() && In(kTools, words[0]) && words[0] != "set" && words[0] != "find";
    return tool ? std::optional(command) : std::nullopt;
  }
  const char first = text.empty() ? ' ' : text[0];
  if (first != '.' && first != '/' && !IsLetter(first)) return std::nullopt;
  if (!MayBeginJob(text)) return std::nullopt;
  return BeginsJob(ProgramWords(command)) ? std::optional(command) : std::nullopt;
}

std::vector<Assignment> Assignments(const CommandLine& command) {
  std::vector<Assignment> found;
  const auto add = [&found](std::optional<Assignment> one) {
    if (one && MattersToGpu(one->first)) found.push_back(std::move(*one));
  };
  std::vector<std::string> words = Words(command.text);
  if (words.empty()) return found;
  if (StartsWith(Lower(words[0]), "$env:")) {  // PowerShell: blanks around "=" are allowed
    std::string joined = Join(words, " ").substr(5);
    const size_t equals = joined.find('=');
    if (equals == std::string::npos) return found;
    add(Assignment{std::string(Trim(joined.substr(0, equals))), std::string(Trim(joined.substr(equals + 1)))});
    return found;
  }
  if (words[0] == "setx" && words.size() >= 3) add(Assignment{words[1], words[2]});
  const bool setter = words[0] == "export" || words[0] == "set" || words[0] == "%env" || words[0] == "ENV";
  bool front = true;
  for (size_t i = setter || In(kWrappers, words[0]) ? 1 : 0; i < words.size(); ++i) {
    const bool option = i > 0 && (words[i - 1] == "-e" || words[i - 1] == "--env");
    const std::string_view word = StartsWith(words[i], "--env=") ? std::string_view(words[i]).substr(6) : words[i];
    const auto one = AsAssignment(word);
    if (one && (front || setter || option || word.size() != words[i].size())) add(one);
    front = front && one.has_value();
    if (words[i] == "&&" || words[i] == ";") front = true;
  }
  return found;
}

std::optional<Assignment> ListedVariable(std::string_view line) {
  line = Trim(line);
  if (line.size() > 300 || line.find(' ') != std::string_view::npos) return std::nullopt;
  auto one = AsAssignment(line);
  return one && MattersToGpu(one->first) ? one : std::nullopt;
}

std::vector<std::string> ProgramWords(const CommandLine& command) {
  std::vector<std::string> words = Words(command.text);
  size_t begin = 0;
  while (begin < words.size() && (AsAssignment(words[begin]) || In(kWrappers, words[begin]))) ++begin;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(begin));
  return words;
}

bool StartsJob(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  const std::string_view name = BaseName(words[0]);
  if (In(kTools, name) || name.empty()) return false;
  if (!IsPython(words[0])) return IsLetter(name[0]);
  // python alone opens a session, -c and --version ask.
  if (words.size() < 2 || words[1] == "-c" || words[1] == "--version" || words[1] == "-V") return false;
  return words.size() < 3 || words[1] != "-m" ||
         (words[2] != "pip" && words[2] != "venv" && words[2] != "torch.utils.collect_env");
}

std::string RequestedDevice(const std::vector<std::string>& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    for (const std::string_view off :
         {"--no-cuda"sv, "--no_cuda"sv, "--cpu"sv, "--use-cpu"sv, "--use_cpu"sv, "--no-gpu"sv, "--disable-cuda"sv,
          "--no_gpu"sv, "--cpu-only"sv, "--force-cpu"sv}) {
      if (word == off) return "cpu";
    }
    if ((word == "-ngl" || word == "--n-gpu-layers" || word == "--gpu-layers") && next == "0") return "cpu";
    for (const std::string_view option : {"--device"sv, "--accelerator"sv, "-d"sv}) {
      if (word == option && !Normal(next).empty() && (option != "-d" || IsLetter(next[0]))) return Normal(next);
    }
    for (const std::string_view option : {"--device="sv, "--accelerator="sv, "device="sv}) {
      if (StartsWith(word, option)) return Normal(std::string_view(word).substr(option.size()));
    }
  }
  return "";
}

std::string DeviceOfSource(std::string_view line) {
  line = Trim(line);
  // Where a file is loaded to, and how a result is shown, is no request.
  if (StartsWith(line, "#") || StartsWith(line, "tensor(") || StartsWith(line, "[") || Contains(line, "map_location"))
    return "";
  for (const std::string_view begin :
       {"device='"sv, "device=\""sv, "device = '"sv, "device = \""sv, "torch.device('"sv, "torch.device(\""sv}) {
    const size_t at = line.find(begin);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + begin.size());
    const size_t end = rest.find(begin.back());
    if (end == std::string_view::npos || end > 12) continue;
    // torch.device('cuda' if torch.cuda.is_available() else 'cpu') asks for what is there.
    if (StartsWith(Trim(rest.substr(end + 1)), "if ")) continue;
    const std::string device = Normal(rest.substr(0, end));
    // torch.device("cuda", 0)
    const std::string_view index = Trim(rest.substr(end + 1));
    const std::string_view number = Trim(index.substr(index.empty() ? 0 : 1));
    const bool numbered = device == "cuda" && !number.empty() && index[0] == ',' && IsDigit(number[0]);
    return numbered ? device + ":" + number[0] : device;
  }
  return "";
}

}  // namespace gpuwhy::shell
