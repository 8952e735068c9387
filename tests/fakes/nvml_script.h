// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_TESTS_FAKES_NVML_SCRIPT_H_
#define GPUWHY_TESTS_FAKES_NVML_SCRIPT_H_

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "witness/nvml/nvml_abi.h"

namespace fake_nvml {

using gpuwhy::nvml::kNotSupported;
using gpuwhy::nvml::kSuccess;
using gpuwhy::nvml::Return;

// The answers to one kind of call, given one after the other and then from the start again. "!4" answers with code 4.
struct Answers {
  std::vector<std::string> tokens;
  size_t next = 0;
  unsigned long calls = 0;
};

inline std::vector<std::string> Parts(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::stringstream stream(text);
  std::string part;
  while (std::getline(stream, part, separator)) out.push_back(part);
  return out;
}

// One GPU or, for the calls without a device, the system. A call without a line is not supported.
struct Section {
  std::map<std::string, Answers> answers;
  unsigned index = 0;
  unsigned long calls = 0;

  Return Next(const std::string& key, std::string* token, Return without = kNotSupported) {
    const auto place = answers.find(key);
    if (place == answers.end() || place->second.tokens.empty()) return without;
    Answers& found = place->second;
    ++found.calls;
    *token = found.tokens[found.next];
    found.next = (found.next + 1) % found.tokens.size();
    return (*token)[0] == '!' ? std::atoi(token->c_str() + 1) : kSuccess;
  }

  // "7,3" -> 7 and 3.
  Return Numbers(const std::string& key, std::vector<double>* out, size_t least) {
    std::string token;
    const Return code = Next(key, &token);
    if (code != kSuccess) return code;
    for (const std::string& part : Parts(token, ',')) out->push_back(std::strtod(part.c_str(), nullptr));
    return out->size() < least ? gpuwhy::nvml::kUnknownError : kSuccess;
  }

  template <typename Number>
  Return One(const std::string& key, Number* out) {
    std::vector<double> numbers;
    const Return code = Numbers(key, &numbers, 1);
    if (code == kSuccess) *out = static_cast<Number>(numbers[0]);
    return code;
  }
};

// The recorded or written machine: lines "key = answer answer ...", "[gpu]" begins a GPU, "[mig]" a slice of the last
// GPU. A value in quotes is one answer with its blanks.
struct Script {
  Section system;
  std::vector<Section> gpus;
  std::vector<Section> slices;  // their answer "parent" is the number of the GPU

  static Script Load(const char* path) {
    Script out;
    Section* section = &out.system;
    out.gpus.reserve(64), out.slices.reserve(64);  // handles point into these
    std::ifstream file(path == nullptr ? "" : path);
    std::string line;
    while (std::getline(file, line)) {
      if (line.compare(0, 5, "[gpu]") == 0) {
        out.gpus.emplace_back();
        section = &out.gpus.back();
        section->index = static_cast<unsigned>(out.gpus.size() - 1);
      } else if (line.compare(0, 5, "[mig]") == 0) {
        out.slices.emplace_back().index = static_cast<unsigned>(out.gpus.size() - 1);
        section = &out.slices.back();
      } else {
        AddLine(line, section);
      }
    }
    return out;
  }

  static void AddLine(const std::string& line, Section* section) {
    const size_t equals = line.find(" = ");
    if (line.empty() || line[0] == '#' || equals == std::string::npos) return;
    Answers& answers = section->answers[line.substr(0, equals)];
    const std::string value = line.substr(equals + 3);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      answers.tokens.push_back(value.substr(1, value.size() - 2));
      return;
    }
    std::stringstream words(value);
    std::string word;
    while (words >> word) answers.tokens.push_back(word);
  }
};

}  // namespace fake_nvml

#endif  // GPUWHY_TESTS_FAKES_NVML_SCRIPT_H_
