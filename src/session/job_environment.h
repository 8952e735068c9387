// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_JOB_ENVIRONMENT_H_
#define GPUWHY_SESSION_JOB_ENVIRONMENT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/evidence.h"
#include "session/job.h"

namespace gpuwhy {

// What `run` wants to bring into the job; empty paths = not available.
struct Injection {
  std::string spool;             // folder of the rings
  std::string agent_folder;      // holds sitecustomize.py
  std::string library;           // the CUPTI library
  std::string trace = "window";  // window, permanent, off
};

struct JobEnvironment {
  EnvironmentChanges changes;
  std::vector<Gap> gaps;  // what is left out and why
};

// All variables gpuwhy itself was started with, as "NAME=VALUE".
std::vector<std::string> OwnEnvironment();

// Variables of the job that differ from those of gpuwhy: GPUWHY_SPOOL, GPUWHY_TRACE, PYTHONPATH, CUDA_INJECTION64_PATH
// and no others. With GPUWHY_DISABLE=1 none; another CUDA tool at work keeps CUDA_INJECTION64_PATH as it is.
JobEnvironment MakeJobEnvironment(const std::vector<std::string>& own, const Injection& injection);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_JOB_ENVIRONMENT_H_
