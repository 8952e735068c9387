// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "engine/builds.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_cuda_libs_missing;

namespace {

constexpr std::string_view kNeeds[] = {"process.cuda_libraries.missing", "framework.tensorflow.gpu_count",
                                       "framework.python.exception"};

// A loader's complaint names the library in front of this text (glibc).
constexpr std::string_view kCannotOpen = ": cannot open shared object file";

// A library that belongs to CUDA and that a framework cannot do without. Not libcuda (the driver's) and not TensorRT
// (libnvinfer), which is optional.
bool IsNeeded(const std::string& name) {
  for (const char* known :
       {"cudart", "cublas", "cudnn", "cufft", "cusparse", "cusolver", "curand", "nvrtc", "libnccl", "nvJitLink",
        "cupti", "nvshmem", "zlibwapi", "c10_cuda", "torch_cuda", "onnxruntime_providers_cuda"}) {
    if (Contains(name, known)) return true;
  }
  return false;
}

// "/a/b/libcudnn.so.8:" -> "libcudnn.so.8".
std::string BareName(std::string_view text) {
  while (!text.empty() && (text.back() == ':' || text.back() == ';' || text.back() == ',' || text.back() == '.'))
    text.remove_suffix(1);
  const size_t slash = text.find_last_of("/\\'\" ");
  return std::string(slash == std::string_view::npos ? text : text.substr(slash + 1));
}

// Name of the CUDA library that an exception says cannot be opened, "" when it says nothing of the kind.
std::string MissingLibrary(const std::string& text) {
  const size_t end = text.find(kCannotOpen);
  if (end == std::string::npos) return "";
  const size_t begin = text.find_last_of(" /:'\"", end - 1);
  const size_t from = begin == std::string::npos ? 0 : begin + 1;
  const std::string name = text.substr(from, end - from);
  return IsNeeded(name) ? name : "";
}

// Libraries that the lines of a text name as missing. In "Could not load X; dlerror: Y: cannot open" it is Y.
StringList NamedInText(const Evidence& evidence) {
  StringList names;
  constexpr std::pair<const char*, const char*> kPlaces[] = {
      {"tf_library_not_loaded", "missing"},     {"tf_library_not_loaded", "library"},
      {"tf_import_library_missing", "library"}, {"torch_cuda_library_missing", "library"},
      {"torch_dll_failed", "library"},          {"cuda_library_not_loaded", "library"}};
  for (const auto& [id, capture] : kPlaces) {
    // The old wording has no dlerror: only then the library of the first half is the missing one.
    if (std::string_view(capture) == "library" && !names.empty()) continue;
    for (const std::string& text : Captured(evidence, id, capture)) {
      const std::string name = BareName(text);
      if (IsNeeded(name) && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  if (names.empty() && Said(evidence, "zlib_missing") != nullptr) names.emplace_back("zlibwapi.dll");
  return names;
}

// What stands behind a beginning in one of the names, up to a dot for DLLs; "" when none begins so.
std::string Behind(const StringList& names, std::string_view begin) {
  for (const std::string& name : names) {
    if (name.rfind(begin, 0) != 0) continue;
    const std::string rest = name.substr(begin.size());
    return Contains(rest, ".dll") ? rest.substr(0, rest.find('.')) : rest;
  }
  return "";
}

// CUDA version in the name of its runtime: cudart64_101.dll and libcudart.so.10.1 are of CUDA 10.1. cuBLAS has the
// version of the toolkit too, from CUDA 10.1 on only the major one.
std::string CudaOfRuntime(const StringList& names) {
  for (const char* begin : {"libcudart.so.", "libcublas.so.", "libcublasLt.so."}) {
    if (const std::string version = Behind(names, begin); !version.empty()) return version;
  }
  const std::string digits = Behind(names, "cudart64_");
  constexpr std::string_view kFirstOfTwo = "2";  // cudart64_90.dll is 9.0, cudart64_12.dll is 12
  if (digits.size() < 2 || (digits.size() == 2 && digits < kFirstOfTwo)) return digits;
  return digits.substr(0, digits.size() - 1) + "." + digits.substr(digits.size() - 1);
}

struct Missing {
  StringList names;
  double confidence = 0;
  Severity severity = Severity::kError;
  const KnownBuild* blind = nullptr;  // framework of the job that sees no GPU
  std::vector<const Fact*> facts;
};

// A framework says that it goes on without the GPU for want of libraries, whether it names them or not.
bool DecidedByText(const RuleContext& context, Missing& missing) {
  const Evidence& evidence = context.evidence;
  if (!FromText(evidence)) return false;
  missing.names = NamedInText(evidence);
  const Fact* decides = Said(evidence, "tf_libraries_missing");
  const Fact* stub = Said(evidence, "tf_cuda_drivers_missing");
  const Fact* died = Said(evidence, "tf_import_library_missing");
  if (died == nullptr) died = Said(evidence, "torch_cuda_library_missing");
  if (died == nullptr) died = Said(evidence, "torch_dll_failed");
  for (const char* id : {"cuda_library_not_loaded", "zlib_missing"}) died = died != nullptr ? died : Said(evidence, id);
  const bool gpu = GpuPresent(evidence) == true || Said(evidence, "tf_found_device") != nullptr;
  if (decides != nullptr || (died != nullptr && !missing.names.empty())) {
    missing.confidence = kStated;
  } else if (!missing.names.empty() || (stub != nullptr && gpu)) {
    // TensorFlow prints this also where there is no GPU at all: an obstacle, but only where there is one the cause.
    missing.confidence = gpu ? kTwoWitnesses : kOneWitness;
    missing.severity = gpu && !missing.names.empty() ? Severity::kError : Severity::kWarning;
  } else {
    return false;
  }
  missing.facts = {decides, died, stub, Said(evidence, "tf_library_not_loaded")};
  return true;
}

bool DecidedLive(const RuleContext& context, Missing& missing) {
  const Fact* exception = MainFact(context, "framework.python.exception");
  const std::string name = exception != nullptr ? MissingLibrary(exception->value.AsText().value_or("")) : "";
  const Fact* absent = MainFact(context, "process.cuda_libraries.missing");
  const StringList names = absent != nullptr ? absent->value.AsList().value_or(StringList{}) : StringList{};
  if (name.empty() && (names.empty() || missing.blind == nullptr)) return false;
  missing.names = name.empty() ? names : StringList{name};
  missing.confidence = name.empty() ? kTwoWitnesses : kStated;
  missing.facts = {name.empty() ? nullptr : exception, names.empty() ? nullptr : absent};
  return true;
}

Finding Describe(const Missing& missing, const Evidence& evidence) {
  Finding finding = MakeFinding(kRule_cuda_libs_missing, missing.severity, missing.confidence);
  finding.implies = GpuUsed::kNo;
  std::string cuda = CudaOfRuntime(missing.names);
  const std::string built = missing.blind != nullptr ? missing.blind->built_for() : "";
  if (!Contains(cuda, ".") && !built.empty()) cuda = built;
  const bool tensorflow = Said(evidence, "tf_import_library_missing") != nullptr ||
                          Said(evidence, "tf_library_not_loaded") != nullptr ||
                          Said(evidence, "tf_skip_gpus") != nullptr;
  const std::string framework = missing.blind != nullptr ? missing.blind->seen.name
                                : tensorflow             ? "tensorflow"
                                                         : "@libraries.framework";
  finding.Param("libraries", missing.names.empty() ? "@libraries.unnamed" : Join(missing.names, ", "));
  finding.Param("framework", framework).Param("cuda", cuda);
  finding.Param("build", cuda.empty() ? "@libraries.build" : "@libraries.build_cuda");
  if (missing.blind != nullptr || tensorflow) finding.frameworks = {framework, "any"};
  if (missing.blind != nullptr) AddLine(finding, missing.blind->seen.version_fact);
  for (const Fact* fact : missing.facts) AddLine(finding, fact);
  if (missing.blind != nullptr) AddLine(finding, missing.blind->seen.sees_fact);
  return finding;
}

RuleOutcome Check(const RuleContext& context) {
  // The library is there; Windows had no memory left to load it.
  if (Said(context.evidence, "windows_paging_file") != nullptr) return RuleOutcome::Clear();
  const std::vector<KnownBuild> all = BuildsSeen(context);
  Missing missing;
  for (const KnownBuild& known : all) {
    const bool cuda = known.seen.cuda ? !known.seen.cuda->empty() : FromText(context.evidence);
    if (TensorFlowWithoutCuda(known, context.evidence)) return RuleOutcome::Clear();
    if (known.seen.in_job && known.seen.sees_gpu == false && cuda) missing.blind = &known;
  }
  const bool sees =
      std::any_of(all.begin(), all.end(), [](const KnownBuild& known) { return known.seen.sees_gpu == true; });
  if (!sees && DecidedByText(context, missing)) return RuleOutcome::Fired(Describe(missing, context.evidence));
  if (DecidedLive(context, missing)) return RuleOutcome::Fired(Describe(missing, context.evidence));
  if (missing.blind == nullptr || MainFact(context, "process.cuda_libraries.missing") != nullptr)
    return RuleOutcome::Clear();
  return RuleOutcome::CannotTell({"process.cuda_libraries.missing"});
}

}  // namespace

extern constinit const Rule kRule_cuda_libs_missing{.id = "GW103",
                                                    .name = "cuda-libs-missing",
                                                    .since = "0.1",
                                                    .stage = Stage::kLibraries,
                                                    .needs = kNeeds,
                                                    .check = &Check};

}  // namespace gpuwhy::rules
