// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_WITNESS_OS_INTERPRETER_LINUX_H_
#define GPUWHY_WITNESS_OS_INTERPRETER_LINUX_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/host_root.h"
#include "base/json.h"
#include "base/result.h"
#include "model/evidence.h"
#include "witness/os/toolkit_linux.h"

namespace gpuwhy::os {

constexpr double kInterpreterLimitS = 20;

// Python interpreters, each once: the given ones (a path, or a name looked up in PATH), those of VIRTUAL_ENV and
// CONDA_PREFIX, python3 and python on PATH. Given ones stay in the list even when nothing is there: asking them tells
// why.
std::vector<std::string> FindInterpreters(const UserEnvironment& user, const std::vector<std::string>& given);

// What `script` (the text of interpreter_probe.py) prints in an interpreter. Errors: not found, no permission, timeout,
// kMalformed when it is no Python.
Result<Json> AskInterpreter(const std::string& python, std::string_view script, double limit_s);

// Facts python.* of the entity Interpreter(python) from such an answer, or their absence with the reason.
void AddInterpreterFacts(const HostRoot& root, const std::string& python, const Result<Json>& answer,
                         std::string_view library_path, EvidenceSink& sink);

// Finds, asks and describes all of them; two names of one interpreter (pyenv's shims) give facts once.
void AddAllInterpreters(const HostRoot& root, const UserEnvironment& user, const std::vector<std::string>& given,
                        std::string_view script, EvidenceSink& sink);

}  // namespace gpuwhy::os

#endif  // GPUWHY_WITNESS_OS_INTERPRETER_LINUX_H_
