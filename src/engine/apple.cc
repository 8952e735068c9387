// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/apple.h"

#include "engine/text_facts.h"

namespace gpuwhy {

bool OnApple(const Evidence& evidence) {
  if (!FromText(evidence) || evidence.Find("driver.version") != nullptr || evidence.Find("gpu.name") != nullptr)
    return false;
  for (const char* id : {"mps_oom", "torch_mps_fallback", "tf_metal", "mentions_mps"}) {
    if (Said(evidence, id) != nullptr) return true;
  }
  return evidence.Text("host.os.name") == "macos";
}

}  // namespace gpuwhy
