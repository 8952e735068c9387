// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "session/compare_sessions.h"

#include <algorithm>
#include <functional>

#include "base/format.h"
#include "base/text.h"
#include "engine/compare.h"
#include "session/input.h"
#include "session/machine.h"
#include "session/session_file.h"
#include "session/share.h"

namespace gpuwhy {
namespace {

constexpr const char* kRecord = "record one with: gpuwhy run --session FILE -- CMD";

Result<SessionSide> Load(const std::string& path) {
  Result<Input> input = ReadInput(path);
  if (!input) return input.error();
  const std::optional<std::string> quoted =
      LooksLikeSession(input->text) && input->text.front() == '{' ? std::nullopt : FindQuotedSession(input->text);
  if (quoted) input->text = *quoted;
  if (!LooksLikeSession(input->text))
    return Error{ErrorCode::kUnsupported,
                 Format("cannot compare {}: it is no recorded session, and a text holds no step times", input->name),
                 kRecord};
  SessionSide side;
  const Result<SessionInfo> info = ReadSession(input->text, side.evidence);
  if (!info)
    return Error{info.error().code, Format("cannot read {}: {}", input->name, info.error().message), info.error().hint};
  if (side.evidence.Find(kKindFact) != nullptr)
    return Error{ErrorCode::kUnsupported,
                 Format("cannot compare {}: it is a look at a machine, no job ran in it", input->name), kRecord};
  side.name = input->name;
  side.started = info->started;
  side.damaged_lines = info->bad_lines + (info->torn ? 1 : 0);
  side.fingerprint = std::hash<std::string>{}(input->text);
  side.report = Judge(side.evidence);
  return side;
}

Result<std::vector<SessionSide>> LoadAll(const std::vector<std::string>& paths) {
  std::vector<SessionSide> sides;
  for (const std::string& path : paths) {
    Result<SessionSide> side = Load(path);
    if (!side) return side.error();
    sides.push_back(std::move(*side));
  }
  return sides;
}

}  // namespace

Result<Comparison> CompareSessions(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const auto inputs = std::count(before.begin(), before.end(), "-") + std::count(after.begin(), after.end(), "-");
  if (inputs > 1)
    return Error{ErrorCode::kUsage, "standard input (-) is one session and was given twice", "save one to a file"};
  const Result<std::vector<SessionSide>> left = LoadAll(before);
  if (!left) return left.error();
  const Result<std::vector<SessionSide>> right = LoadAll(after);
  if (!right) return right.error();
  return Compare(*left, *right);
}

}  // namespace gpuwhy
