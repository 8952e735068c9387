// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/error_text.h"

#include <map>
#include <optional>
#include <string_view>

#include "report/locale.h"
#include "report/text.h"

namespace gpuwhy::report {
namespace {

constexpr std::string_view kPrefix = "error.";
constexpr int kDeepest = 3;  // "cannot read {{name}}: {{why}}" holds a reason, which may hold one more

struct Matched {
  std::string_view key;
  std::map<std::string, std::string> params;
  size_t literal = 0;  // bytes that the template itself brings: the more, the better it fits
};

// `text` against an English template; a placeholder takes as little as it can, the last one the rest.
std::optional<Matched> Match(std::string_view key, std::string_view pattern, std::string_view text) {
  Matched matched{key, {}, 0};
  for (;;) {
    const size_t open = pattern.find("{{");
    const std::string_view literal = pattern.substr(0, open);
    if (text.substr(0, literal.size()) != literal) return std::nullopt;
    matched.literal += literal.size();
    text.remove_prefix(literal.size());
    if (open == std::string_view::npos) return text.empty() ? std::optional<Matched>(matched) : std::nullopt;
    const size_t close = pattern.find("}}", open);
    const std::string name(pattern.substr(open + 2, close - open - 2));
    pattern.remove_prefix(close + 2);
    const std::string_view next = pattern.substr(0, pattern.find("{{"));
    const size_t end = next.empty() ? text.size() : text.find(next);
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    matched.params[name] = std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string Translate(std::string_view text, Language language, int depth) {
  std::optional<Matched> best;
  for (const LocaleEntry& entry : LocaleEntries()) {
    if (entry.key.substr(0, kPrefix.size()) != kPrefix) continue;
    std::optional<Matched> matched = Match(entry.key, entry.en, text);
    if (matched && (!best || matched->literal > best->literal)) best = std::move(matched);
  }
  if (!best || depth >= kDeepest) return std::string(text);
  for (auto& [name, value] : best->params) value = Translate(value, language, depth + 1);
  return LocaleText(best->key, language, best->params);
}

}  // namespace

std::string ErrorText(const Error& error, Language language) {
  if (language == Language::kEnglish) return error.Line();
  const std::string what = Translate(error.message, language, 0);
  return error.hint.empty() ? what : what + "；" + Translate(error.hint, language, 0);
}

}  // namespace gpuwhy::report
