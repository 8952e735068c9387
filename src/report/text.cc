// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <algorithm>
#include <cctype>

#include "base/format.h"
#include "base/text.h"
#include "model/page.h"
#include "report/locale.h"

namespace gpuwhy::report {
namespace {

const LocaleEntry* FindEntry(std::string_view key) {
  const std::span<const LocaleEntry> entries = LocaleEntries();
  const auto less = [](const LocaleEntry& entry, std::string_view wanted) { return entry.key < wanted; };
  const auto at = std::lower_bound(entries.begin(), entries.end(), key, less);
  return at != entries.end() && at->key == key ? &*at : nullptr;
}

const PageText* FindPage(std::string_view cause, Language language) {
  for (const RulePage& page : RulePages()) {
    if (page.name == cause) return language == Language::kChinese ? &page.zh : &page.en;
  }
  return nullptr;
}

std::string_view FrameworkTitle(std::string_view name) {
  if (name == "torch") return "PyTorch";
  if (name == "tensorflow") return "TensorFlow";
  if (name == "jax") return "JAX";
  return name;
}

// Fixes for a Mac stand in place of all others (engine/apple.h).
constexpr std::string_view kApple = "apple";
bool IsForApple(const PageFix& fix) { return fix.framework == kApple; }
bool ForApple(const Finding& finding) {
  return std::find(finding.frameworks.begin(), finding.frameworks.end(), kApple) != finding.frameworks.end();
}

// Is the character that begins at `at` Chinese or a mark of its punctuation (U+3000 to U+9FFF, U+FF00 to U+FFEF)?
bool ChineseAt(std::string_view text, size_t at) {
  if (at + 2 >= text.size()) return false;
  const auto first = static_cast<unsigned char>(text[at]), second = static_cast<unsigned char>(text[at + 1]);
  return (first >= 0xE3 && first <= 0xE9) || (first == 0xEF && second >= 0xBC);
}

// Parameters that are Chinese themselves leave blanks between two Chinese characters, where none belongs.
std::string WithoutInnerBlanks(std::string text) {
  for (size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    if (at >= 3 && ChineseAt(text, at - 3) && ChineseAt(text, at + 1)) text.erase(at--, 1);
  }
  return text;
}

// A sentence that begins with an article which came in as a parameter ("the framework").
std::string WithCapital(std::string text) {
  for (const std::string_view word : {"the ", "a ", "an ", "this "}) {
    if (text.compare(0, word.size(), word) == 0)
      text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string Sentence(std::string text, Language language) {
  return language == Language::kChinese ? WithoutInnerBlanks(std::move(text)) : WithCapital(std::move(text));
}

}  // namespace

// What stands for one placeholder: the parameter, the text of locale/ that it names, the framework as people write it.
std::string FillOne(const std::string& name, const std::map<std::string, std::string>& params, Language language) {
  const auto found = params.find(name);
  if (found == params.end()) return "?";
  const std::string& value = found->second;
  if (value.rfind('@', 0) == 0 && HasLocaleText(value.substr(1))) {
    std::map<std::string, std::string> others = params;  // without itself: a text never holds itself
    others.erase(name);
    return LocaleText(value.substr(1), language, others);
  }
  const std::string framework = "framework." + value;
  return name == "framework" && HasLocaleText(framework) ? LocaleText(framework, language) : value;
}

std::string FillPlaceholders(std::string_view text, const std::map<std::string, std::string>& params,
                             Language language) {
  std::string out;
  for (;;) {
    const size_t open = text.find("{{");
    const size_t close = open == std::string_view::npos ? open : text.find("}}", open);
    if (close == std::string_view::npos) return out.append(text);
    out.append(text.substr(0, open));
    out += FillOne(std::string(text.substr(open + 2, close - open - 2)), params, language);
    text.remove_prefix(close + 2);
  }
}

bool HasLocaleText(std::string_view key) { return FindEntry(key) != nullptr; }

std::string LocaleText(std::string_view key, Language language, const std::map<std::string, std::string>& params) {
  const LocaleEntry* entry = FindEntry(key);
  if (entry == nullptr) return std::string(key);
  return FillPlaceholders(language == Language::kChinese ? entry->zh : entry->en, params, language);
}

std::string CauseTitle(std::string_view cause, Language language) {
  const PageText* page = FindPage(cause, language);
  return page == nullptr ? std::string(cause) : std::string(page->title);
}

std::string VerdictSentence(const Report& report, Language language) {
  const Verdict& verdict = report.verdict;
  if (!verdict.summary.empty()) return Sentence(LocaleText(verdict.summary, language, verdict.params), language);
  for (const Finding& finding : report.findings) {
    if (finding.cause == verdict.cause) return FindingSummary(finding, language);
  }
  if (const PageText* page = FindPage(verdict.cause, language))
    return Sentence(FillPlaceholders(page->summary, verdict.params, language), language);
  return LocaleText(Format("verdict.{}", GpuUsedName(verdict.gpu_used)), language);
}

std::string WitnessWhy(const WitnessStatement& statement, Language language) {
  return statement.why.empty() ? "" : LocaleText(statement.why, language, statement.params);
}

std::string WitnessSentence(const WitnessStatement& statement, Language language) {
  if (!statement.says.empty()) return LocaleText(statement.says, language, statement.params);
  std::string why = WitnessWhy(statement, language);
  if (!why.empty()) return why;
  return LocaleText("witness.silent", language);
}

std::string FindingTitle(const Finding& finding, Language language) {
  return FillPlaceholders(CauseTitle(finding.cause, language), finding.params, language);
}

std::string FindingSummary(const Finding& finding, Language language) {
  const PageText* page = FindPage(finding.cause, language);
  return page == nullptr ? finding.cause
                         : Sentence(FillPlaceholders(page->summary, finding.params, language), language);
}

std::string FindingNext(const Finding& finding, Language language) {
  // The commands of the pages are those of NVIDIA's tools and of gpuwhy, which a Mac has not.
  const bool nvidia = finding.next.empty() || Contains(finding.next, "nvidia-smi");
  if (ForApple(finding) && nvidia) return "";
  if (!finding.next.empty()) return NextText(finding.next, language);
  const PageText* page = FindPage(finding.cause, language);
  return page == nullptr ? "" : FillPlaceholders(page->next, finding.params, language);
}

std::vector<Fix> FindingFixes(const Finding& finding, Language language) {
  std::vector<Fix> fixes;
  const PageText* page = FindPage(finding.cause, language);
  if (page == nullptr) return fixes;
  const bool apple = ForApple(finding) && std::any_of(page->fixes.begin(), page->fixes.end(), IsForApple);
  for (const PageFix& fix : page->fixes) {
    const std::vector<std::string>& wanted = finding.frameworks;
    const bool shown = wanted.empty() || fix.framework == "any" ||
                       std::find(wanted.begin(), wanted.end(), fix.framework) != wanted.end();
    if (IsForApple(fix) != apple || (!shown && !apple)) continue;
    fixes.push_back({apple ? "any" : std::string(fix.framework),
                     Sentence(FillPlaceholders(fix.text, finding.params, language), language),
                     FillPlaceholders(fix.code, finding.params, language)});
  }
  return fixes;
}

// "framework.torch.version" is labelled by "fact.framework.version" with the framework's name filled in.
std::string KeyLabel(std::string_view key, Language language) {
  for (const std::string_view domain : {"metric.", "fact."}) {
    const std::string full = std::string(domain) + std::string(key);
    if (HasLocaleText(full)) return LocaleText(full, language);
  }
  const std::vector<std::string_view> parts = Split(key, '.');
  if (parts.size() >= 3 && parts[0] == "framework") {
    const std::string_view rest = key.substr(parts[0].size() + parts[1].size() + 2);
    const std::string general = Format("fact.framework.{}", rest);
    if (HasLocaleText(general))
      return LocaleText(general, language, {{"framework", std::string(FrameworkTitle(parts[1]))}});
  }
  return std::string(key);
}

std::string NextText(const std::string& command, Language language) {
  const size_t mark = command.find(" # ");
  if (mark == std::string::npos) return command;
  std::string key = "comment.";
  for (const char c : command.substr(mark + 3)) key += std::isalpha(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return HasLocaleText(key) ? command.substr(0, mark + 3) + LocaleText(key, language) : command;
}

std::string MissingText(State state, std::string_view why, Language language) {
  std::string word = LocaleText(Format("state.{}", StateName(state)), language);
  if (why.empty()) return word;
  return LocaleText("state.with_why", language, {{"state", word}, {"why", LocaleText(why, language)}});
}

std::string ShowValue(const Value& value, std::string_view unit, Language language) {
  if (!value.known()) return MissingText(value.state, value.why, language);
  if (const std::optional<bool> yes = value.AsBool()) return LocaleText(*yes ? "word.yes" : "word.no", language);
  if (const std::optional<double> number = value.AsDouble()) return ShowQuantity(*number, unit);
  const std::string text = value.Show();
  return text.empty() ? LocaleText("word.none", language) : text;
}

std::string ConfidenceText(double confidence, Language language) {
  const char* step = "weak";
  if (confidence >= 0.9) {
    step = "stated";
  } else if (confidence >= 0.75) {
    step = "two";
  } else if (confidence >= 0.5) {
    step = "one";
  }
  return LocaleText(Format("confidence.{}", step), language);
}

}  // namespace gpuwhy::report
