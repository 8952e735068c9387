// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/toolkit_linux.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/environment.h"
#include "base/file.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "witness/os/command_linux.h"
#include "witness/os/host_facts.h"

namespace gpuwhy::os {
namespace {

constexpr double kNvccLimitS = 2;

bool IsProgram(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// The path without links, or itself: /usr/local/cuda and /usr/local/cuda-13.0 are one toolkit.
std::string Resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result(real);
  std::free(real);
  return result;
}

std::string WithoutRoot(const HostRoot& root, std::string path) {
  const std::string prefix = Resolved(root.Path(""));
  if (root.is_fake() && path.compare(0, prefix.size(), prefix) == 0) path.erase(0, prefix.size());
  return path;
}

std::optional<std::string> FromJson(const std::string& file) {
  const Result<std::string> text = ReadFile(file, 1 << 20);
  if (!text) return std::nullopt;
  const Result<Json> json = Json::Parse(*text);
  if (!json) return std::nullopt;
  const std::string version = (*json)["cuda"]["version"].AsString();
  return version.empty() ? std::nullopt : std::optional<std::string>(version);
}

// "CUDA Version 10.2.89" (CUDA up to 11.0).
std::optional<std::string> FromText(const std::string& file) {
  const Result<std::string> text = ReadFile(file, 1 << 16);
  if (!text) return std::nullopt;
  const size_t at = text->find("CUDA Version ");
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(*text).substr(at + 13);
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

// "#define CUDA_VERSION 13000" = 1000 * major + 10 * minor. cuda.h is about 1 MB, the line stands near its top.
std::optional<std::string> FromHeader(const std::string& file) {
  const Result<std::string> text = ReadFile(file, size_t{1} << 22);
  if (!text) return std::nullopt;
  const size_t at = text->find("#define CUDA_VERSION ");
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = Trim(std::string_view(*text).substr(at + 21, 16));
  const std::optional<long long> number = ParseInt(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!number) return std::nullopt;
  return Format("{}.{}", *number / 1000, *number % 1000 / 10);
}

// "Cuda compilation tools, release 12.4, V12.4.131".
std::optional<std::string> FromNvcc(const std::string& nvcc) {
  const Result<CommandOutput> run = RunCommand({nvcc, "--version"}, {}, kNvccLimitS);
  if (!run) return std::nullopt;
  const size_t at = run->output.find("release ");
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(run->output).substr(at + 8);
  const std::string_view version = rest.substr(0, rest.find_first_not_of("0123456789."));
  return version.empty() ? std::nullopt : std::optional<std::string>(version);
}

// Folders that may hold a toolkit, in the order in which a user would mean them.
std::vector<std::string> Candidates(const HostRoot& root, const UserEnvironment& user,
                                    const std::optional<std::string>& nvcc) {
  std::vector<std::string> folders;
  if (nvcc) folders.push_back(Resolved(root.Path(*nvcc)).substr(0, Resolved(root.Path(*nvcc)).rfind("/bin/")));
  for (const std::string& folder : {user.cuda_home, user.cuda_path}) {
    if (!folder.empty()) folders.push_back(root.Path(folder));
  }
  folders.push_back(root.Path("/usr/local/cuda"));
  const Result<std::vector<std::string>> local = ListFolder(root.Path("/usr/local"));
  for (const std::string& name : local ? *local : std::vector<std::string>()) {
    if (name.compare(0, 5, "cuda-") == 0) folders.push_back(root.Path("/usr/local/" + name));
  }
  for (const char* folder : {"/opt/cuda", "/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"})
    folders.push_back(root.Path(folder));
  if (!user.conda_prefix.empty()) folders.push_back(user.conda_prefix);
  return folders;
}

struct Toolkit {
  std::string folder;  // full path
  std::string nvcc;    // full path, "" = none (a run-time only install)
  std::optional<std::string> version;
};

std::vector<Toolkit> FindToolkits(const HostRoot& root, const UserEnvironment& user,
                                  const std::optional<std::string>& nvcc) {
  std::vector<Toolkit> toolkits;
  for (const std::string& candidate : Candidates(root, user, nvcc)) {
    Toolkit toolkit;
    toolkit.folder = Resolved(candidate);
    // /usr/bin/nvcc of Debian's package belongs to /usr: its header lies there too.
    const bool known = std::any_of(toolkits.begin(), toolkits.end(),
                                   [&](const Toolkit& other) { return other.folder == toolkit.folder; });
    if (known || toolkit.folder.empty()) continue;
    const std::string program = toolkit.folder + "/bin/nvcc";
    if (IsProgram(program)) toolkit.nvcc = program;
    toolkit.version = ToolkitVersion(toolkit.folder);
    if (toolkit.nvcc.empty() && !toolkit.version) continue;
    if (!toolkit.version && !root.is_fake()) toolkit.version = FromNvcc(toolkit.nvcc);
    toolkits.push_back(std::move(toolkit));
  }
  return toolkits;
}

void AddNvidiaSmi(const HostRoot& root, const UserEnvironment& user, HostFacts& facts) {
  StringList tried, found;
  const auto look = [&](const std::string& path) {
    if (std::find(tried.begin(), tried.end(), path) != tried.end()) return;
    tried.push_back(path);
    if (IsProgram(root.Path(path))) found.push_back(path);
  };
  for (const std::string_view folder : Split(user.path, ':')) {
    if (!folder.empty() && folder.front() == '/') look(std::string(folder) + "/nvidia-smi");
  }
  // Distribution packages; WSL's library folder; container toolkits and GKE.
  for (const char* path :
       {"/usr/bin/nvidia-smi", "/usr/local/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi",
        "/usr/local/nvidia/bin/nvidia-smi", "/opt/bin/nvidia-smi", "/run/current-system/sw/bin/nvidia-smi"}) {
    look(path);
  }
  facts.Add("nvidia_smi.path", found);
  facts.Add("nvidia_smi.tried", tried);
  facts.Add("nvidia_smi.on_path", FindOnPath(root, user.path, "nvidia-smi").has_value());
}

}  // namespace

UserEnvironment UserEnvironment::OfThisProcess() {
  UserEnvironment user;
  user.path = Environment("PATH").value_or("");
  user.cuda_home = Environment("CUDA_HOME").value_or("");
  user.cuda_path = Environment("CUDA_PATH").value_or("");
  user.conda_prefix = Environment("CONDA_PREFIX").value_or("");
  user.virtual_env = Environment("VIRTUAL_ENV").value_or("");
  return user;
}

std::optional<std::string> FindOnPath(const HostRoot& root, std::string_view path, std::string_view name) {
  for (const std::string_view folder : Split(path, ':')) {
    if (folder.empty() || folder.front() != '/') continue;
    const std::string candidate = std::string(folder) + "/" + std::string(name);
    if (IsProgram(root.Path(candidate))) return candidate;
  }
  return std::nullopt;
}

std::optional<std::string> ToolkitVersion(const std::string& folder) {
  if (std::optional<std::string> version = FromJson(folder + "/version.json")) return version;
  if (std::optional<std::string> version = FromText(folder + "/version.txt")) return version;
  return FromHeader(folder + "/include/cuda.h");
}

void AddToolkitFacts(const HostRoot& root, const UserEnvironment& user, EvidenceSink& sink) {
  HostFacts facts(sink);
  const std::optional<std::string> on_path = FindOnPath(root, user.path, "nvcc");
  StringList folders, versions;
  std::string nvcc = on_path.value_or("");
  for (const Toolkit& toolkit : FindToolkits(root, user, on_path)) {
    folders.push_back(WithoutRoot(root, toolkit.folder));
    versions.push_back(toolkit.version.value_or("unknown"));
    if (nvcc.empty() && !toolkit.nvcc.empty()) nvcc = WithoutRoot(root, toolkit.nvcc);
  }
  facts.Add("toolkit.installed", folders);
  facts.Add("toolkit.versions", versions);  // one for each folder of toolkit.installed
  facts.Add("toolkit.nvcc.path", nvcc.empty()
                                     ? Value::Missing(State::kNotFound, "no nvcc on PATH nor in the usual folders")
                                     : Value::Of(nvcc));
  facts.Add("toolkit.nvcc.on_path", on_path.has_value());
  const std::string home = user.cuda_home.empty() ? user.cuda_path : user.cuda_home;
  facts.Add("toolkit.cuda_home", home.empty()
                                     ? Value::Missing(State::kNotFound, "neither CUDA_HOME nor CUDA_PATH is set")
                                     : Value::Of(home));
  if (!home.empty()) facts.Add("toolkit.cuda_home.exists", FileExists(root.Path(home)));
  AddNvidiaSmi(root, user, facts);
}

}  // namespace gpuwhy::os
