// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "model/entity.h"

#include <array>

#include "base/text.h"

namespace gpuwhy {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"host", "gpu", "process", "process-gpu", "python"};
constexpr std::array<std::string_view, 5> kSources = {"framework", "cuda", "os", "driver", "device"};

}  // namespace

std::string Entity::Text() const {
  const std::string name(kKinds[static_cast<size_t>(kind)]);
  return kind == EntityKind::kHost ? name : name + ":" + id;
}

Entity Entity::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  for (size_t i = 1; i < kKinds.size() && colon != std::string_view::npos; ++i) {
    if (text.substr(0, colon) == kKinds[i]) return {static_cast<EntityKind>(i), std::string(text.substr(colon + 1))};
  }
  return Host();
}

int64_t Entity::pid() const {
  if (kind != EntityKind::kProcess && kind != EntityKind::kProcessOnGpu) return -1;
  return ParseInt(std::string_view(id).substr(0, id.find('@'))).value_or(-1);
}

std::string Entity::gpu() const {
  if (kind == EntityKind::kGpu) return id;
  const size_t at = id.find('@');
  return kind == EntityKind::kProcessOnGpu && at != std::string::npos ? id.substr(at + 1) : "";
}

std::string_view SourceName(Source source) { return kSources[static_cast<size_t>(source)]; }

Source ParseSource(std::string_view name) {
  for (size_t i = 0; i < kSources.size(); ++i) {
    if (kSources[i] == name) return static_cast<Source>(i);
  }
  return Source::kOs;
}

}  // namespace gpuwhy
