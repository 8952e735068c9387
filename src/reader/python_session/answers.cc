// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/python_session/answers.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"
#include "reader/python_session/python_code.h"
#include "reader/torch_version.h"

namespace gpuwhy::python_session {
namespace {

// The value of one expression and how to say it.
struct Asked {
  std::string_view argument;  // of a call, "" without one
  std::string_view value;
  const TextLine& line;
  EvidenceSink& sink;

  void Add(std::string name, Value known) const {
    AddQuoted(sink, std::move(name), TextJob(), std::move(known), Source::kFramework, line);
  }
};

bool StartsWith(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

std::optional<bool> AsBool(std::string_view value) {
  if (value == "True" || value == "true" || value == "Yes" || value == "yes") return true;
  if (value == "False" || value == "false" || value == "No" || value == "no") return false;
  return std::nullopt;
}

std::string_view Unquoted(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front()) {
    return value.substr(1, value.size() - 2);
  }
  return value;
}

// "2.1.0+cu121", "1.7.0a0+9ddd3df", "v2.10.0-rc1": begins like a version and holds no blank.
std::optional<std::string> AsVersion(std::string_view value) {
  value = Unquoted(value);
  if (value.empty() || value.size() > 60 || value[0] < '0' || value[0] > '9') return std::nullopt;
  const bool word = std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c != '%' && c != '|'; });
  const auto version = ParseVersion(value);
  // Two parts at least, and no date ("2024-03-09").
  return word && version && version->parts.size() >= 2 && version->major() < 100 ? std::optional(std::string(value))
                                                                                 : std::nullopt;
}

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

bool IsList(std::string_view value) { return value.size() >= 2 && value.front() == '[' && value.back() == ']'; }

bool TorchVersion(const Asked& asked) {
  const auto version = AsVersion(asked.value);
  if (version) AddTorchVersion(asked.sink, *version, Source::kFramework, asked.line);
  return version.has_value();
}

bool TorchCuda(const Asked& asked) {
  const auto version = AsVersion(asked.value);
  if (!version && asked.value != "None") return false;
  asked.Add("framework.torch.cuda_built", Value::Of(version.value_or("")));
  return true;
}

bool TorchHip(const Asked& asked) {
  if (asked.value == "None") return true;
  const auto version = AsVersion(asked.value);
  if (version) asked.Add("framework.torch.hip_built", Value::Of(*version));
  return version.has_value();
}

bool TorchAvailable(const Asked& asked) {
  const auto available = AsBool(asked.value);
  if (available) asked.Add("framework.torch.cuda_available", Value::Of(*available));
  return available.has_value();
}

bool TorchCount(const Asked& asked) {
  const auto count = ParseInt(asked.value);
  if (!count || *count < 0 || *count > 64) return false;
  asked.Add("framework.torch.device_count", Value::Of(int64_t{*count}));
  return true;
}

// Index of a device argument: nothing means the current device, which is 0 unless the program changed it.
std::optional<long long> DeviceArgument(std::string_view argument) {
  argument = Unquoted(argument);
  if (argument.empty() || argument == "torch.cuda.current_device()" || argument == "cuda") return 0;
  if (StartsWith(argument, "device=")) argument.remove_prefix(7);
  if (StartsWith(argument, "cuda:")) argument.remove_prefix(5);
  const auto index = ParseInt(argument);
  return index && *index >= 0 && *index < 64 ? index : std::nullopt;
}

bool TorchName(const Asked& asked) {
  const auto index = DeviceArgument(asked.argument);
  const std::string_view name = Unquoted(asked.value);
  const bool letters = std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!index || !letters || name.size() > 60 || name.find_first_of("()[]=:|") != std::string_view::npos) {
    const bool marketing = Contains(name, "(") && !Contains(name, "=") && !Contains(name, ":");  // "TITAN X (Pascal)"
    if (!index || !letters || name.size() > 60 || !marketing) return false;
  }
  if (Contains(name, "Error") || Contains(name, "Traceback") || Contains(name, "Warning")) return false;
  asked.Add("framework.torch.device." + std::to_string(*index) + ".name", Value::Of(std::string(name)));
  return true;
}

bool TorchCapability(const Asked& asked) {
  const auto index = DeviceArgument(asked.argument);
  const std::string_view value = asked.value;
  if (!index || value.size() < 5 || value.front() != '(' || value.back() != ')') return false;
  const auto parts = Split(value.substr(1, value.size() - 2), ',');
  if (parts.size() != 2 || !ParseInt(Trim(parts[0])) || !ParseInt(Trim(parts[1]))) return false;
  asked.Add("framework.torch.device." + std::to_string(*index) + ".compute_capability",
            Value::Of(std::string(Trim(parts[0])) + "." + std::string(Trim(parts[1]))));
  return true;
}

bool TorchArchitectures(const Asked& asked) {
  if (!IsList(asked.value) || (asked.value != "[]" && !Contains(asked.value, "'"))) return false;
  StringList list;
  for (const std::string_view part : SplitOutside(asked.value.substr(1, asked.value.size() - 2), ',')) {
    if (!part.empty()) list.emplace_back(Unquoted(part));
  }
  asked.Add("framework.torch.arch_list", Value::Of(std::move(list)));
  return true;
}

// device(type='cuda', index=0), cuda:0, cpu: where the parameters of a model lie.
bool ModelDevice(const Asked& asked) {
  const std::string_view value = Unquoted(asked.value);
  const bool gpu = StartsWith(value, "cuda") || StartsWith(value, "device(type='cuda'") || value == "True";
  const bool cpu = value == "cpu" || value == "device(type='cpu')" || value == "False";
  if (gpu) asked.Add("framework.on_gpu", Value::Of(true));
  if (cpu) asked.Add("framework.on_cpu", Value::Of(true));
  if (cpu) asked.Add("framework.torch.parameters.on_cpu", Value::Of(true));
  return gpu || cpu;
}

bool TensorFlowVersion(const Asked& asked) {
  const auto version = AsVersion(asked.value);
  if (version) asked.Add("framework.tensorflow.version", Value::Of(*version));
  return version.has_value();
}

bool TensorFlowBuilt(const Asked& asked) {
  const auto built = AsBool(asked.value);
  if (built) asked.Add("framework.tensorflow.cuda_built", Value::Of(*built));
  return built.has_value();
}

// is_gpu_available() says that there is one, not how many there are: 1 is what is certain.
bool TensorFlowAvailable(const Asked& asked) {
  const auto available = AsBool(asked.value);
  if (available) asked.Add("framework.tensorflow.gpu_count", Value::Of(int64_t{*available ? 1 : 0}));
  return available.has_value();
}

bool TensorFlowList(const Asked& asked) {
  if (!IsList(asked.value) || (asked.value != "[]" && !Contains(asked.value, "Device("))) return false;
  const size_t gpus = Count(asked.value, "device_type='GPU'");
  if (asked.value == "[]" && !asked.argument.empty() && asked.argument != "'GPU'" &&
      asked.argument != "device_type='GPU'")
    return true;  // an empty list of something else
  asked.Add("framework.tensorflow.gpu_count", Value::Of(static_cast<int64_t>(gpus)));
  return true;
}

bool TensorFlowCount(const Asked& asked) {
  const auto count = ParseInt(asked.value);
  if (!count || *count < 0 || *count > 64) return false;
  asked.Add("framework.tensorflow.gpu_count", Value::Of(int64_t{*count}));
  return true;
}

bool TensorFlowName(const Asked& asked) {
  const std::string_view name = Unquoted(asked.value);
  if (!name.empty() && !StartsWith(name, "/device:GPU:")) return false;
  if (name.empty() && asked.value.empty()) return false;
  asked.Add("framework.tensorflow.gpu_count", Value::Of(int64_t{name.empty() ? 0 : 1}));
  return true;
}

bool JaxVersion(const Asked& asked) {
  const auto version = AsVersion(asked.value);
  if (version) asked.Add("framework.jax.version", Value::Of(*version));
  return version.has_value();
}

bool JaxlibVersion(const Asked& asked) {
  const auto version = AsVersion(asked.value);
  if (version) asked.Add("framework.jaxlib.version", Value::Of(*version));
  return version.has_value();
}

bool JaxBackend(const Asked& asked) {
  const std::string_view backend = Unquoted(asked.value);
  if (backend != "cpu" && backend != "gpu" && backend != "cuda" && backend != "rocm" && backend != "tpu") return false;
  asked.Add("framework.jax.backend", Value::Of(std::string(backend)));
  return true;
}

// [CpuDevice(id=0)], [TFRT_CPU_0], [CudaDevice(id=0)], [cuda(id=0)], [GpuDevice(id=0, process_index=0)]
bool JaxDevices(const Asked& asked) {
  if (!IsList(asked.value)) return false;
  const std::string lower = Lower(asked.value);
  const size_t gpus = Count(lower, "cudadevice(") + Count(lower, "cuda(") + Count(lower, "gpudevice(") +
                      Count(lower, "gpu(") + Count(lower, "rocmdevice(");
  const bool cpu = Contains(lower, "cpudevice(") || Contains(lower, "tfrt_cpu_");
  if (gpus == 0 && !cpu) return false;
  asked.Add("framework.jax.backend", Value::Of(std::string(gpus > 0 ? "gpu" : "cpu")));
  asked.Add("framework.jax.device_count", Value::Of(static_cast<int64_t>(gpus)));
  return true;
}

// Providers of an onnxruntime session, the one that is tried first in front.
bool OrtProviders(const Asked& asked) {
  if (!IsList(asked.value) || !Contains(asked.value, "ExecutionProvider")) return false;
  const bool cpu = StartsWith(asked.value, "['CPUExecutionProvider'");
  const bool gpu = StartsWith(asked.value, "['CUDAExecutionProvider'") || StartsWith(asked.value, "['Tensorrt");
  if (cpu) asked.Add("framework.on_cpu", Value::Of(true));
  if (gpu) asked.Add("framework.on_gpu", Value::Of(true));
  return true;
}

bool OrtAvailable(const Asked& asked) {
  if (!IsList(asked.value) || !Contains(asked.value, "ExecutionProvider")) return false;
  asked.Add("framework.onnxruntime.cuda_built", Value::Of(Contains(asked.value, "CUDAExecutionProvider")));
  return true;
}

bool Platform(const Asked& asked) {
  const std::string lower = Lower(Unquoted(asked.value));
  const char* name = StartsWith(lower, "win")                                    ? "windows"
                     : StartsWith(lower, "linux")                                ? "linux"
                     : StartsWith(lower, "darwin") || StartsWith(lower, "macos") ? "macos"
                                                                                 : nullptr;
  if (name == nullptr) return false;
  AddQuoted(asked.sink, "host.os.name", Entity::Host(), Value::Of(std::string(name)), Source::kOs, asked.line);
  if (Contains(lower, "microsoft"))
    AddQuoted(asked.sink, "host.wsl", Entity::Host(), Value::Of(true), Source::kOs, asked.line);
  return true;
}

// os.environ['NAME']: the name is the argument.
bool Variable(const Asked& asked) {
  const std::string_view name = Unquoted(SplitOutside(asked.argument, ',').front());
  const bool known = std::all_of(name.begin(), name.end(),
                                 [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
  if (name.empty() || !known || asked.value.size() > 200) return false;
  if (asked.value == "None") return true;
  AddQuoted(asked.sink, "process.env." + std::string(name), TextJob(), Value::Of(std::string(Unquoted(asked.value))),
            Source::kOs, asked.line);
  return true;
}

struct Question {
  std::string_view begin;  // with "(" or "[" at the end: the argument follows
  bool (*answer)(const Asked&);
};

constexpr Question kQuestions[] = {
    {"torch.__version__", &TorchVersion},
    {"torch.version.__version__", &TorchVersion},
    {"torch.version.cuda", &TorchCuda},
    {"torch.version.hip", &TorchHip},
    {"torch.cuda.is_available(", &TorchAvailable},
    {"cuda.is_available(", &TorchAvailable},
    {"torch.cuda.device_count(", &TorchCount},
    {"torch.cuda.get_device_name(", &TorchName},
    {"torch.cuda.get_device_capability(", &TorchCapability},
    {"torch.cuda.get_arch_list(", &TorchArchitectures},
    {"tf.__version__", &TensorFlowVersion},
    {"tf.VERSION", &TensorFlowVersion},
    {"tf.version.VERSION", &TensorFlowVersion},
    {"tf.test.is_built_with_cuda(", &TensorFlowBuilt},
    {"tf.test.is_built_with_gpu_support(", &TensorFlowBuilt},
    {"tf.test.is_gpu_available(", &TensorFlowAvailable},
    {"tf.test.gpu_device_name(", &TensorFlowName},
    {"tf.config.list_physical_devices(", &TensorFlowList},
    {"tf.config.list_logical_devices(", &TensorFlowList},
    {"tf.config.experimental.list_physical_devices(", &TensorFlowList},
    {"tf.config.experimental.list_logical_devices(", &TensorFlowList},
    {"len(tf.config.list_physical_devices('GPU')", &TensorFlowCount},
    {"len(tf.config.experimental.list_physical_devices('GPU')", &TensorFlowCount},
    {"jax.__version__", &JaxVersion},
    {"jaxlib.__version__", &JaxlibVersion},
    {"jax.devices(", &JaxDevices},
    {"jax.local_devices(", &JaxDevices},
    {"jax.default_backend(", &JaxBackend},
    {"jax.lib.xla_bridge.get_backend().platform", &JaxBackend},
    {"xla_bridge.get_backend().platform", &JaxBackend},
    {"ort.get_available_providers(", &OrtAvailable},
    {"onnxruntime.get_available_providers(", &OrtAvailable},
    {"sys.platform", &Platform},
    {"platform.system(", &Platform},
    {"platform.platform(", &Platform},
    {"os.environ[", &Variable},
    {"os.environ.get(", &Variable},
    {"os.getenv(", &Variable},
};

// Expressions whose receiver has any name: (end of the expression, reader of the answer).
constexpr Question kEndings[] = {
    {".get_providers()", &OrtProviders},
    {".parameters()).device", &ModelDevice},
    {".parameters()).is_cuda", &ModelDevice},
};

const Question* Find(std::string_view expression, std::string_view& argument) {
  argument = {};
  for (const Question& question : kQuestions) {
    if (!StartsWith(expression, question.begin)) continue;
    const std::string_view rest = expression.substr(question.begin.size());
    const char last = question.begin.back();
    if (last != '(' && last != '[' && !StartsWith(question.begin, "len(")) {
      if (rest.empty()) return &question;
      continue;
    }
    if (rest.empty() || (rest.back() != ')' && rest.back() != ']')) continue;
    argument = rest.substr(0, rest.size() - 1);
    // Not a part of a longer expression: f(x) and g(y).
    if (SplitOutside(argument, ')').size() == 1) return &question;
  }
  for (const Question& question : kEndings) {
    if (expression.size() > question.begin.size() &&
        expression.substr(expression.size() - question.begin.size()) == question.begin) {
      return &question;
    }
  }
  return nullptr;
}

struct Label {
  std::string_view label;
  std::string_view expression;
};

constexpr Label kLabels[] = {
    {"cuda available", "torch.cuda.is_available()"},
    {"cuda is available", "torch.cuda.is_available()"},
    {"is cuda available", "torch.cuda.is_available()"},
    {"cuda availability", "torch.cuda.is_available()"},
    {"torch cuda available", "torch.cuda.is_available()"},
    {"torch cuda is available", "torch.cuda.is_available()"},
    {"pytorch cuda available", "torch.cuda.is_available()"},
    {"torch version", "torch.__version__"},
    {"pytorch version", "torch.__version__"},
    {"torch.version", "torch.__version__"},
    {"pytorch", "torch.__version__"},
    {"torch", "torch.__version__"},
    {"torch cuda version", "torch.version.cuda"},
    {"pytorch cuda version", "torch.version.cuda"},
    {"tensorflow version", "tf.__version__"},
    {"tf version", "tf.__version__"},
    {"tensorflow", "tf.__version__"},
    {"built with cuda", "tf.test.is_built_with_cuda()"},
    {"tf built with cuda", "tf.test.is_built_with_cuda()"},
    {"jax version", "jax.__version__"},
    {"jax", "jax.__version__"},
    {"jaxlib", "jaxlib.__version__"},
};

}  // namespace

bool IsQuestion(std::string_view expression) {
  std::string_view argument;
  return Find(expression, argument) != nullptr;
}

bool Answer(std::string_view expression, std::string_view value, const TextLine& line, EvidenceSink& sink) {
  std::string_view argument;
  const Question* question = Find(expression, argument);
  return question != nullptr && question->answer({argument, Trim(value), line, sink});
}

bool NothingIsAnAnswer(std::string_view expression) { return expression == "torch.version.cuda"; }

std::string_view ExpressionOfLabel(std::string_view label) {
  constexpr size_t kLongest = 32;
  if (label.size() > kLongest) return {};
  std::string lower = Lower(Trim(label));
  while (!lower.empty() && (lower.back() == '?' || lower.back() == ' ')) lower.pop_back();
  for (const Label& known : kLabels) {
    if (lower == known.label) return known.expression;
  }
  return {};
}

}  // namespace gpuwhy::python_session
