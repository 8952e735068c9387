// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/job_environment.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"

extern char** environ;

namespace gpuwhy {
namespace {

constexpr std::string_view kLibraryName = "libgpuwhy_inject";

// Variables that a CUDA tool leaves in the processes it starts, by prefix. nsys: documented for use by programs; ncu,
// compute-sanitizer and nvprof: seen in their targets (GROMACS pmalloc_cuda, FlashMLA tests and others test for them).
struct ToolMark {
  std::string_view prefix;
  std::string_view tool;
};
constexpr ToolMark kToolMarks[] = {
    {"KINETO_USE_DAEMON", "the Kineto daemon (dynolog)"}, {"NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
    {"NV_COMPUTE_PROFILER_", "Nsight Compute"},           {"NV_NSIGHT_INJECTION_", "Nsight"},
    {"NV_SANITIZER_INJECTION_", "compute-sanitizer"},     {"NVPROF_ID", "nvprof"},
};

std::optional<std::string_view> Lookup(const std::vector<std::string>& own, std::string_view name) {
  for (const std::string& entry : own) {
    const std::string_view text = entry;
    if (text.size() > name.size() && text.substr(0, name.size()) == name && text[name.size()] == '=') {
      return text.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

// Who else uses CUPTI in this job; empty when nobody does.
std::string OtherTool(const std::vector<std::string>& own) {
  const std::optional<std::string_view> library = Lookup(own, "CUDA_INJECTION64_PATH");
  // The library of an outer gpuwhy gives way to ours: the job reports to the nearest one.
  if (library && !library->empty() && library->find(kLibraryName) == std::string_view::npos) {
    return Format("CUDA_INJECTION64_PATH={} is set already", *library);
  }
  for (const std::string& entry : own) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    const std::string_view value = std::string_view(entry).substr(std::min(entry.size(), name.size() + 1));
    for (const ToolMark& mark : kToolMarks) {
      if (name.substr(0, mark.prefix.size()) != mark.prefix) continue;
      if (mark.prefix == "KINETO_USE_DAEMON" && (value.empty() || value == "0")) continue;
      return Format("{} is at work ({} is set)", mark.tool, name);
    }
  }
  return "";
}

void AddAgent(const std::vector<std::string>& own, const std::string& folder, JobEnvironment& result) {
  if (folder.empty()) return;
  if (folder.find(':') != std::string::npos) {
    result.gaps.push_back({"what the framework says (Python agent)",
                           Format("the folder {} has a colon in its name, which PYTHONPATH cannot carry", folder),
                           "set TMPDIR to a folder without a colon"});
    return;
  }
  const std::optional<std::string_view> path = Lookup(own, "PYTHONPATH");
  // An empty PYTHONPATH means none; "folder:" would add the working directory to sys.path.
  result.changes["PYTHONPATH"] = path && !path->empty() ? Format("{}:{}", folder, *path) : folder;
}

}  // namespace

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) result.emplace_back(*entry);
  return result;
}

JobEnvironment MakeJobEnvironment(const std::vector<std::string>& own, const Injection& injection) {
  JobEnvironment result;
  if (Lookup(own, "GPUWHY_DISABLE") == std::string_view("1")) {
    result.gaps.push_back({"everything inside the job", "GPUWHY_DISABLE=1 is set", "unset GPUWHY_DISABLE"});
    return result;
  }
  if (injection.spool.empty()) {
    // An outer gpuwhy's spool stays: the job goes on reporting there.
    return result;
  }
  result.changes["GPUWHY_SPOOL"] = injection.spool;
  result.changes["GPUWHY_TRACE"] = injection.trace;
  AddAgent(own, injection.agent_folder, result);
  if (injection.library.empty() || injection.trace == "off") return result;
  const std::string other = OtherTool(own);
  if (other.empty()) {
    result.changes["CUDA_INJECTION64_PATH"] = injection.library;
  } else {
    result.gaps.push_back({"kernels and copies of the job (CUPTI)", other + ", and CUPTI serves one tool at a time",
                           "run the job without that tool, or read that tool's trace"});
  }
  return result;
}

}  // namespace gpuwhy
