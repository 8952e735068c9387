// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/lookup.h"

namespace gpuwhy::rules {

extern const Rule kRule_cuda_libs_missing;

namespace {

constexpr std::string_view kNeeds[] = {"process.cuda_libraries.missing", "framework.tensorflow.gpu_count",
                                       "framework.python.exception"};

// A loader's complaint names the library in front of this text (glibc).
constexpr std::string_view kCannotOpen = ": cannot open shared object file";

// Name of the CUDA library that an exception says cannot be opened, "" when it says nothing of the kind.
std::string MissingLibrary(const std::string& text) {
  const size_t end = text.find(kCannotOpen);
  if (end == std::string::npos) return "";
  const size_t begin = text.find_last_of(" /:'\"", end - 1);
  const std::string name =
      text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1));
  for (const char* known : {"libcudart", "libcublas", "libcudnn", "libcufft", "libcusparse", "libcusolver", "libcurand",
                            "libnvrtc", "libnccl", "libnvJitLink", "libcupti", "libnvshmem"}) {
    if (Contains(name, known)) return name;
  }
  return "";
}

RuleOutcome Check(const RuleContext& context) {
  const Fact* exception = MainFact(context, "framework.python.exception");
  const std::string from_exception = exception != nullptr ? MissingLibrary(exception->value.AsText().value_or("")) : "";
  const Fact* missing = MainFact(context, "process.cuda_libraries.missing");
  const StringList names = missing != nullptr ? missing->value.AsList().value_or(StringList{}) : StringList{};
  const FrameworkSeen* blind = nullptr;
  const std::vector<FrameworkSeen> all = FrameworksSeen(context);
  for (const FrameworkSeen& seen : all) {
    if (seen.in_job && seen.sees_gpu == false && seen.cuda.value_or("") != "") blind = &seen;
  }
  if (from_exception.empty() && (names.empty() || blind == nullptr)) {
    return blind != nullptr && missing == nullptr ? RuleOutcome::CannotTell({"process.cuda_libraries.missing"})
                                                  : RuleOutcome::Clear();
  }
  Finding finding =
      MakeFinding(kRule_cuda_libs_missing, Severity::kError, from_exception.empty() ? kTwoWitnesses : kStated);
  finding.Param("libraries", from_exception.empty() ? Join(names, ", ") : from_exception);
  finding.Param("framework", blind != nullptr ? blind->name : "pytorch")
      .Param("cuda", blind != nullptr ? blind->cuda.value_or("?") : "?");
  if (blind != nullptr) finding.frameworks = {blind->name, "any"};
  if (!from_exception.empty()) AddItem(finding, exception);
  if (!names.empty()) AddItem(finding, missing);
  if (blind != nullptr) AddItem(finding, blind->sees_fact);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_cuda_libs_missing{.id = "GW103",
                                                    .name = "cuda-libs-missing",
                                                    .since = "0.1",
                                                    .stage = Stage::kLibraries,
                                                    .needs = kNeeds,
                                                    .check = &Check};

}  // namespace gpuwhy::rules
