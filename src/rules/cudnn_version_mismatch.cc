// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "engine/lookup.h"
#include "engine/text_facts.h"

namespace gpuwhy::rules {

extern const Rule kRule_cudnn_version_mismatch;

namespace {

constexpr std::string_view kNeeds[] = {"framework.python.exception"};

struct Mismatch {
  std::string framework, built, loaded;
  const Fact* fact = nullptr;
};

// "(8, 5, 0)" -> "8.5.0", "8.1.0." -> "8.1.0", "8904" -> "8.9.4".
std::string Dotted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ',') out += '.';
    if ((c >= '0' && c <= '9') || c == '.') out += c;
  }
  while (!out.empty() && out.back() == '.') out.pop_back();
  const std::optional<long long> number = Contains(out, ".") ? std::nullopt : ParseInt(out);
  constexpr long long kFirstLong = 90000;  // cudnn_version.h: 8904 is 8.9.4, from cuDNN 9 on 90100 is 9.1.0
  if (!number || *number < 1000) return out;
  const long long unit = *number >= kFirstLong ? 10000 : 1000;
  return std::to_string(*number / unit) + "." + std::to_string(*number % unit / 100) + "." +
         std::to_string(*number % 100);
}

// What stands between two texts, "" when one of them is not there.
std::string Between(const std::string& text, std::string_view begin, std::string_view end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const std::string rest = text.substr(from + begin.size());
  return rest.substr(0, rest.find(end));
}

// The messages of tensorflow/.../cuda_dnn.cc, of xla, and of torch/backends/cudnn/__init__.py.
std::optional<Mismatch> FromMessage(const std::string& text, const Fact* fact) {
  Mismatch found{"tensorflow", Dotted(Between(text, "but source was compiled with: ", " ")),
                 Dotted(Between(text, "Loaded runtime CuDNN library: ", " ")), fact};
  if (!found.built.empty() && !found.loaded.empty()) return found;
  found = {"pytorch", Dotted(Between(text, "compiled against (", ")")),
           Dotted(Between(text, "found runtime version (", ")")), fact};
  if (!found.built.empty() && !found.loaded.empty()) return found;
  return std::nullopt;
}

std::optional<Mismatch> FromLines(const RuleContext& context) {
  const Evidence& evidence = context.evidence;
  for (const char* id : {"cudnn_mismatch", "tf_cudnn_mismatch", "torch_cudnn_version_mismatch"}) {
    const Fact* fact = Said(evidence, id);
    if (fact == nullptr) continue;
    const bool jax = MainFact(context, "framework.jax.version") != nullptr || Contains(fact->quote, "JAX");
    Mismatch found{std::string_view(id).rfind("torch", 0) == 0 ? "pytorch"
                   : jax                                       ? "jax"
                                                               : "tensorflow",
                   Dotted(FirstCaptured(evidence, id, "built")), Dotted(FirstCaptured(evidence, id, "runtime")), fact};
    if (!found.built.empty() && !found.loaded.empty()) return found;
  }
  return std::nullopt;
}

// cuDNN runs programs built for its own or an older minor version of the same major one (cuDNN support matrix).
bool Fits(const Mismatch& found) {
  const std::optional<Version> built = ParseVersion(found.built), loaded = ParseVersion(found.loaded);
  return built && loaded && built->major() == loaded->major() && built->minor() <= loaded->minor();
}

RuleOutcome Check(const RuleContext& context) {
  std::optional<Mismatch> found = FromLines(context);
  const Fact* exception = MainFact(context, "framework.python.exception");
  if (!found && exception != nullptr) found = FromMessage(exception->value.AsText().value_or(""), exception);
  if (!found || Fits(*found)) return RuleOutcome::Clear();
  Finding finding = MakeFinding(kRule_cudnn_version_mismatch, Severity::kError, kStated);
  finding.implies = GpuUsed::kNo;
  finding.frameworks = {found->framework, "any"};
  finding.Param("framework", found->framework).Param("built", found->built).Param("loaded", found->loaded);
  AddItem(finding, found->fact);
  return RuleOutcome::Fired(std::move(finding));
}

}  // namespace

extern constinit const Rule kRule_cudnn_version_mismatch{.id = "GW104",
                                                         .name = "cudnn-version-mismatch",
                                                         .since = "0.1",
                                                         .stage = Stage::kLibraries,
                                                         .needs = kNeeds,
                                                         .check = &Check};

}  // namespace gpuwhy::rules
