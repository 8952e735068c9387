// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "witness/os/interpreter_linux.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "base/environment.h"
#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "witness/os/command_linux.h"
#include "witness/os/host_facts.h"
#include "witness/os/libraries_linux.h"

namespace gpuwhy::os {
namespace {

constexpr std::string_view kMark = "gpuwhy-interpreter-probe:";

std::string Resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result(real);
  std::free(real);
  return result;
}

// python and python3 of one folder are one interpreter; those of two folders are not, even if both lead to the same
// file: a virtual environment is known by the place of its link.
std::string Identity(const std::string& path) {
  return Resolved(path.substr(0, path.rfind('/'))) + "|" + Resolved(path);
}

class InterpreterFacts {
 public:
  InterpreterFacts(std::string python, EvidenceSink& sink) : python_(std::move(python)), sink_(sink) {}
  void Add(std::string name, Value value, std::string where = "") {
    sink_.AddFact(std::move(name), Entity::Interpreter(python_), std::move(value), Source::kOs, std::move(where));
  }

 private:
  std::string python_;
  EvidenceSink& sink_;
};

Value TextOr(const Json& json, const std::string& why) {
  return json.is_string() && !json.AsString().empty() ? Value::Of(json.AsString())
                                                      : Value::Missing(State::kNotFound, why);
}

StringList Texts(const Json& json) {
  StringList texts;
  for (const Json& item : json.AsArray()) texts.push_back(item.AsString());
  return texts;
}

void AddTorch(const Json& answer, InterpreterFacts& facts) {
  const Json& torch = answer["torch"];
  const Json& installed = answer["distributions"]["torch"];
  facts.Add("python.torch.version",
            TextOr(torch["version"].is_string() ? torch["version"] : installed, "PyTorch is not installed"));
  if (!torch.is_object()) return;
  const std::string where = torch["file"].AsString();
  facts.Add("python.torch.cuda_built", Value::Of(torch["cuda"].is_string()), where);
  facts.Add("python.torch.cuda_version", TextOr(torch["cuda"], "this PyTorch is built without CUDA"), where);
  if (torch["hip"].is_string()) facts.Add("python.torch.hip_version", Value::Of(torch["hip"].AsString()), where);
}

void AddTensorflow(const HostRoot& root, const Json& answer, std::string_view library_path, InterpreterFacts& facts) {
  const Json& distributions = answer["distributions"];
  Value version = Value::Missing(State::kNotFound, "TensorFlow is not installed");
  for (const char* name :
       {"tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tensorflow-intel", "tf-nightly", "tf-nightly-cpu"}) {
    if (version.known() || !distributions[name].is_string()) continue;
    version = Value::Of(distributions[name].AsString());
    facts.Add("python.tensorflow.distribution", Value::Of(name));
  }
  const Json& build = answer["tensorflow"];
  if (!version.known() && build.is_object())
    version = Value::Missing(State::kUnknown, "a tensorflow package without metadata");
  facts.Add("python.tensorflow.version", version);
  if (!build.is_object()) return;
  const std::string where = build["file"].AsString();
  const Json& cuda = build["is_cuda_build"];
  facts.Add("python.tensorflow.cuda_built",
            cuda.is_bool() ? Value::Of(cuda.AsBool()) : Value::Missing(State::kUnknown, "build_info.py does not say"),
            where);
  facts.Add("python.tensorflow.cuda_version", TextOr(build["cuda_version"], "build_info.py names no CUDA version"),
            where);
  facts.Add("python.tensorflow.cudnn_version", TextOr(build["cudnn_version"], "build_info.py names no cuDNN version"),
            where);
  const std::vector<std::string> needed =
      NeededCudaLibraries(build["cuda_version"].AsString(), build["cudnn_version"].AsString());
  if (!cuda.AsBool() || needed.empty()) return;
  const LibraryPresence presence = FindCudaLibraries(root, needed, Texts(answer["path"]), library_path);
  facts.Add("python.tensorflow.cuda_libraries.found", Value::Of(presence.found));
  facts.Add("python.tensorflow.cuda_libraries.missing", Value::Of(presence.missing));
}

void AddJax(const Json& answer, InterpreterFacts& facts) {
  const Json& distributions = answer["distributions"];
  facts.Add("python.jax.version", TextOr(distributions["jax"], "JAX is not installed"));
  facts.Add("python.jaxlib.version", TextOr(distributions["jaxlib"], "jaxlib is not installed"));
  StringList plugins;
  for (const Json::Member& member : distributions.AsObject()) {
    if (member.first.compare(0, 8, "jax-cuda") == 0) plugins.push_back(member.first + " " + member.second.AsString());
  }
  if (!distributions["jaxlib"].is_string()) return;
  facts.Add("python.jax.cuda_plugins", Value::Of(plugins));
  // Up to 0.4.2x the CUDA build was a local version of jaxlib: "0.4.13+cuda12.cudnn89".
  facts.Add("python.jax.cuda_built",
            Value::Of(!plugins.empty() || Contains(distributions["jaxlib"].AsString(), "+cuda")));
}

void AddPackages(const Json& answer, InterpreterFacts& facts) {
  StringList packages;
  for (const Json::Member& member : answer["distributions"].AsObject())
    packages.push_back(member.first + " " + member.second.AsString());
  facts.Add("python.packages", Value::Of(packages));
  facts.Add("python.keras.version", TextOr(answer["distributions"]["keras"], "Keras is not installed"));
  const Json& gpu_runtime = answer["distributions"]["onnxruntime-gpu"];
  const Json& runtime = answer["distributions"]["onnxruntime"];
  if (gpu_runtime.is_string() || runtime.is_string()) {
    facts.Add("python.onnxruntime.version", Value::Of((gpu_runtime.is_string() ? gpu_runtime : runtime).AsString()));
    facts.Add("python.onnxruntime.cuda_built", Value::Of(gpu_runtime.is_string()));
  }
  facts.Add("python.cuda_libraries", Value::Of(Texts(answer["cuda_libraries"])));
  const StringList faults = Texts(answer["faults"]);
  if (!faults.empty()) facts.Add("python.faults", Value::Of(faults));
}

}  // namespace

std::vector<std::string> FindInterpreters(const UserEnvironment& user, const std::vector<std::string>& given) {
  std::vector<std::string> found;
  std::set<std::string> seen;
  const auto add = [&](const std::string& path) {
    if (seen.insert(Identity(path)).second) found.push_back(path);
  };
  for (const std::string& name : given) {
    add(Contains(name, "/") ? name : FindOnPath(HostRoot(), user.path, name).value_or(name));
  }
  for (const std::string& prefix : {user.virtual_env, user.conda_prefix}) {
    const std::string path = prefix + "/bin/python";
    if (!prefix.empty() && access(path.c_str(), X_OK) == 0) add(path);
  }
  for (const char* name : {"python3", "python"}) {
    if (const std::optional<std::string> path = FindOnPath(HostRoot(), user.path, name)) add(*path);
  }
  return found;
}

Result<Json> AskInterpreter(const std::string& python, std::string_view script, double limit_s) {
  // Nothing may be left behind in the user's folders, and an agent of ours that PYTHONPATH may hold stays quiet.
  const std::vector<std::string> environment = {"PYTHONDONTWRITEBYTECODE=1", "GPUWHY_DISABLE=1",
                                                "PYTHONIOENCODING=utf-8", "PYTHONSTARTUP", "PYTHONINSPECT"};
  const Result<CommandOutput> run = RunCommand({python, "-c", std::string(script)}, environment, limit_s);
  if (!run) return run.error();
  const size_t mark = run->output.rfind(kMark);
  if (mark == std::string::npos) {
    const std::vector<std::string_view> lines = Lines(Trim(run->errors));
    const std::string last = lines.empty() ? "it printed nothing" : std::string(lines.back().substr(0, 200));
    return Error{ErrorCode::kMalformed,
                 Format("{} does not answer as a Python interpreter (status {}): {}", python, run->status, last), ""};
  }
  const std::string_view line = std::string_view(run->output).substr(mark + kMark.size());
  return Json::Parse(Trim(line.substr(0, line.find('\n'))));
}

void AddInterpreterFacts(const HostRoot& root, const std::string& python, const Result<Json>& answer,
                         std::string_view library_path, EvidenceSink& sink) {
  InterpreterFacts facts(python, sink);
  if (!answer) return facts.Add("python.version", ValueOf(answer.error()));
  const std::string version = (*answer)["version"].AsString();
  facts.Add("python.version", TextOr((*answer)["version"], "the interpreter did not tell its version"));
  facts.Add("python.executable", TextOr((*answer)["executable"], "sys.executable is empty"));
  if (!(*answer)["path"].is_array()) {
    facts.Add(
        "python.packages",
        Value::Missing(State::kUnsupported, Format("Python {} is too old to be asked: 3.6 is the oldest", version)));
    return;
  }
  facts.Add("python.path", Value::Of(Texts((*answer)["path"])));
  AddTorch(*answer, facts);
  AddTensorflow(root, *answer, library_path, facts);
  AddJax(*answer, facts);
  AddPackages(*answer, facts);
}

void AddAllInterpreters(const HostRoot& root, const UserEnvironment& user, const std::vector<std::string>& given,
                        std::string_view script, EvidenceSink& sink) {
  std::set<std::string> executables;
  const std::string library_path = Environment("LD_LIBRARY_PATH").value_or("");
  for (const std::string& python : FindInterpreters(user, given)) {
    const Result<Json> answer = AskInterpreter(python, script, kInterpreterLimitS);
    const std::string executable = answer ? (*answer)["executable"].AsString() : "";
    if (!executable.empty() && !executables.insert(Identity(executable)).second) continue;
    AddInterpreterFacts(root, python, answer, library_path, sink);
  }
}

}  // namespace gpuwhy::os
