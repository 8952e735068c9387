// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "engine/analysis.h"

namespace gpuwhy {

std::optional<HostView> ViewHost(const Evidence& evidence, int64_t pid) {
  HostView view;
  std::array<std::map<uint32_t, uint64_t>, HostView::kCategories> names;
  for (const HostSample& sample : evidence.host_samples()) {
    if (sample.pid != pid || sample.category >= HostView::kCategories) continue;
    ++view.looks;
    ++view.by_category[sample.category];
    ++names[sample.category][sample.name];
  }
  if (view.looks == 0) return std::nullopt;
  for (size_t category = 0; category < HostView::kCategories; ++category) {
    for (const auto& [name, count] : names[category]) {
      std::pair<std::string, uint64_t>& most = view.frame[category];
      if (count > most.second) most = {evidence.Name(name), count};
    }
  }
  return view;
}

}  // namespace gpuwhy
