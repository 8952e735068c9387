// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/python_session/device_list.h"

#include <optional>
#include <string>

#include "base/text.h"
#include "reader/python_session/python_code.h"

namespace gpuwhy::python_session {
namespace {

constexpr std::string_view kType = "device_type: \"";
constexpr std::string_view kDescription = "physical_device_desc: \"device: ";

// Fields of tensorflow's DeviceAttributes (core/framework/device_attributes.proto) that a list may hold.
bool IsPart(std::string_view line) {
  for (const char* field :
       {"name: \"", "device_type: \"", "memory_limit", "locality", "incarnation", "physical_device_desc",
        "xla_global_id", "bus_id", "numa_node", "links", "link", "device_id", "type:", "strength"}) {
    if (line.substr(0, std::string_view(field).size()) == field) return true;
  }
  return line.empty() || line.find_first_not_of("[]{}, ") == std::string_view::npos || Contains(line, kType);
}

struct List {
  int64_t gpus = 0;
  size_t first_gpu = 0;
  size_t last = 0;
  bool closed = false;
};

void CountTypes(std::string_view line, size_t index, List& list) {
  for (size_t at = line.find(kType); at != std::string_view::npos; at = line.find(kType, at + 1)) {
    if (line.substr(at + kType.size(), 4) != "GPU\"") continue;
    if (list.gpus++ == 0) list.first_gpu = index;
  }
}

// physical_device_desc: "device: 0, name: GeForce GTX 1080, pci bus id: 0000:07:00.0, compute capability: 6.1"
void AddDescription(const TextLine& line, EvidenceSink& sink) {
  const std::string_view text = line.text;
  const size_t at = text.find(kDescription);
  if (at == std::string_view::npos) return;
  const std::string_view rest = text.substr(at + kDescription.size());
  const size_t name = rest.find(", name: "), end = rest.find(", pci bus id");
  const auto index = ParseInt(rest.substr(0, name));
  if (!index || name == std::string_view::npos || end == std::string_view::npos || end < name) return;
  AddQuoted(sink, "framework.tensorflow.device." + std::to_string(*index) + ".name", TextJob(),
            Value::Of(std::string(rest.substr(name + 8, end - name - 8))), Source::kFramework, line);
}

}  // namespace

size_t ReadDeviceList(PastedText& text, size_t begin, EvidenceSink& sink) {
  if (!Contains(text[begin], "name: \"/")) return begin;
  List list;
  size_t at = begin;
  for (; at < text.size() && !list.closed; ++at) {
    const std::string_view line = Trim(text[at]);
    if (at > begin && (IsPrompt(line) || !IsPart(line))) break;
    CountTypes(line, at, list);
    if (line.empty()) continue;
    AddDescription(text.lines()[at], sink);
    list.last = at;
    list.closed = line.back() == ']';
    text.Claim(at);
  }
  if (list.gpus == 0 && !list.closed) return at;
  const size_t where = list.gpus > 0 ? list.first_gpu : begin;
  AddQuoted(sink, "framework.tensorflow.gpu_count", TextJob(), Value::Of(list.gpus), Source::kFramework,
            text.lines()[where]);
  return at;
}

}  // namespace gpuwhy::python_session
