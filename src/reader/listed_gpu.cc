// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "reader/listed_gpu.h"

#include "base/text.h"
#include "reader/words.h"

namespace gpuwhy {
namespace {

constexpr long long kMostGpus = 1024;

std::optional<ListedGpu> MigDevice(std::string_view head, std::string_view uuid) {
  const size_t begin = head.rfind("MIG ");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view profile = Trim(head.substr(begin + 4));
  if (!Contains(profile, "Device")) return std::nullopt;
  return ListedGpu{std::nullopt, profile.substr(0, profile.find(' ')), uuid};
}

// What stands in front of "(UUID: ...)": the last "GPU n:" of it, a prompt may come first.
std::optional<ListedGpu> Entry(std::string_view head, std::string_view uuid) {
  if (StartsWith(uuid, "MIG-")) return MigDevice(head, uuid);
  for (size_t at = head.rfind("GPU "); at != std::string_view::npos;
       at = at > 0 ? head.rfind("GPU ", at - 1) : head.npos) {
    const std::string_view rest = head.substr(at + 4);
    const size_t colon = rest.find(": ");
    const std::optional<long long> index =
        colon != std::string_view::npos ? ParseInt(rest.substr(0, colon)) : std::nullopt;
    if (index && *index >= 0 && *index <= kMostGpus) return ListedGpu{index, Trim(rest.substr(colon + 2)), uuid};
  }
  return std::nullopt;
}

}  // namespace

std::vector<ListedGpu> ParseListedGpus(std::string_view line) {
  std::vector<ListedGpu> found;
  for (size_t end = line.find("(UUID: "); end != std::string_view::npos; end = line.find("(UUID: ")) {
    const std::string_view rest = line.substr(end + 7);
    const size_t close = rest.find(')');
    if (close == std::string_view::npos) break;
    if (const std::optional<ListedGpu> entry = Entry(Trim(line.substr(0, end)), rest.substr(0, close)))
      found.push_back(*entry);
    line = rest.substr(close + 1);
  }
  return found;
}

}  // namespace gpuwhy
