// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "knowledge/gpus.h"

#include <string>
#include <vector>

namespace gpuwhy::knowledge {
namespace {

// Lower case, one blank between words, "-" and "_" as blanks, without leading NVIDIA and Tesla.
std::string Normalise(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool blank = c == ' ' || c == '\t' || c == '-' || c == '_';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  for (const std::string_view prefix : {"nvidia ", "tesla "}) {
    if (out.compare(0, prefix.size(), prefix) == 0) out.erase(0, prefix.size());
  }
  return out;
}

bool StartsWith(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

// GeForce is often left out in speech: "RTX 3090".
bool BeginsWithModel(const std::string& printed, const std::string& model) {
  constexpr std::string_view kBrand = "geforce ";
  for (const std::string& name : {model, StartsWith(model, kBrand) ? model.substr(kBrand.size()) : model}) {
    if (StartsWith(printed, name) && (printed.size() == name.size() || printed[name.size()] == ' ')) return true;
  }
  return false;
}

// "RTX A2000 Laptop GPU", "H100 80GB HBM3 MIG 3g.40gb", "RTX 3050 6GB": words behind the name tell another power limit
// or size of memory, never another compute capability.
bool IsWholeName(const std::string& printed, const std::string& model) {
  constexpr std::string_view kBrand = "geforce ";
  return printed == model || (StartsWith(model, kBrand) && printed == model.substr(kBrand.size()));
}

GpuFacts FactsOf(const GpuModel& model) { return {model.capability, model.watts, model.gib, model.architecture}; }

// Keeps of `known` what `other` has too.
void Intersect(GpuFacts& known, const GpuFacts& other) {
  if (known.capability != other.capability) known.capability = "";
  if (known.watts != other.watts) known.watts = 0;
  if (known.gib != other.gib) known.gib = 0;
  if (known.architecture != other.architecture) known.architecture = "";
}

}  // namespace

std::optional<GpuFacts> FindGpu(std::string_view printed) {
  static const std::vector<std::string> kNormalised = [] {
    std::vector<std::string> names;
    for (const GpuModel& model : GpuModels()) names.push_back(Normalise(model.name));
    return names;
  }();
  const size_t dots = printed.find("...");
  const std::string name = Normalise(printed.substr(0, dots));
  if (name.empty()) return std::nullopt;
  std::optional<GpuFacts> found, common;
  size_t longest = 0;
  size_t at = 0;
  for (const GpuModel& model : GpuModels()) {
    const std::string& known = kNormalised[at++];
    if (known.size() > longest && BeginsWithModel(name, known)) {
      longest = known.size();
      found = FactsOf(model);
      if (!IsWholeName(name, known)) found->watts = found->gib = 0;
    }
    if (dots == std::string_view::npos || !StartsWith(known, name)) continue;
    if (common)
      Intersect(*common, FactsOf(model));
    else
      common = FactsOf(model);
  }
  return common ? common : found;
}

bool IsConsumerGpu(std::string_view printed) {
  const std::string name = Normalise(printed);
  return name.find("geforce") != std::string::npos || StartsWith(name, "titan");
}

}  // namespace gpuwhy::knowledge
