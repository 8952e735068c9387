// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_MODEL_ENTITY_H_
#define GPUWHY_MODEL_ENTITY_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuwhy {

enum class EntityKind : uint8_t { kHost, kGpu, kProcess, kProcessOnGpu, kInterpreter };

// What a fact or sample is about. The id is the UUID (or bus id) of a GPU, never its index; the PID of a process;
// "PID@GPU" for a process on a GPU; the path of an interpreter; empty for the host.
struct Entity {
  EntityKind kind = EntityKind::kHost;
  std::string id;

  static Entity Host() { return {}; }
  static Entity Gpu(std::string uuid) { return {EntityKind::kGpu, std::move(uuid)}; }
  static Entity Process(int64_t pid) { return {EntityKind::kProcess, std::to_string(pid)}; }
  static Entity ProcessOnGpu(int64_t pid, const std::string& uuid) {
    return {EntityKind::kProcessOnGpu, std::to_string(pid) + "@" + uuid};
  }
  static Entity Interpreter(std::string path) { return {EntityKind::kInterpreter, std::move(path)}; }

  // "host", "gpu:GPU-…", "process:123", "process-gpu:123@GPU-…", "python:/usr/bin/python3".
  std::string Text() const;
  static Entity Parse(std::string_view text);
  // PID of a process or of a process on a GPU, -1 for anything else.
  int64_t pid() const;
  // UUID of a GPU or of a process on a GPU.
  std::string gpu() const;

  bool operator==(const Entity& other) const = default;
  auto operator<=>(const Entity& other) const = default;
};

// The rung of the evidence ladder (design: framework > cuda > os > driver > device) that a piece of evidence counts
// for.
enum class Source : uint8_t { kFramework, kCuda, kOs, kDriver, kDevice };

std::string_view SourceName(Source source);
Source ParseSource(std::string_view name);

}  // namespace gpuwhy

#endif  // GPUWHY_MODEL_ENTITY_H_
