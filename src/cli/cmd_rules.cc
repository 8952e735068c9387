// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"
#include "base/json.h"
#include "cli/deliver.h"
#include "cli/nearest.h"
#include "cli/subcommand.h"
#include "model/page.h"

namespace gpuwhy::cli {
namespace {

using report::Language;

const PageText& TextOf(const RulePage& page, Language language) {
  return language == Language::kChinese ? page.zh : page.en;
}

Json Brief(const RulePage& page, Language language) {
  Json out;
  out.Set("id", page.id);
  out.Set("name", page.name);
  out.Set("title", TextOf(page, language).title);
  return out;
}

Json Whole(const RulePage& page, Language language) {
  const PageText& text = TextOf(page, language);
  Json out = Brief(page, language);
  out.Set("summary", text.summary);
  out.Set("about", text.about);
  Json::Array fixes;
  for (const PageFix& fix : text.fixes) {
    Json item;
    item.Set("framework", fix.framework);
    item.Set("do", fix.text);
    item.Set("code", fix.code);
    fixes.push_back(std::move(item));
  }
  out.Set("fixes", std::move(fixes));
  out.Set("next", text.next);
  return out;
}

// The families are the hundreds of the ids.
std::string ListText(Language language) {
  std::string out = report::LocaleText("section.rule_list", language) + "\n";
  char family = 0;
  for (const RulePage& page : RulePages()) {
    if (page.id[2] != family) {
      family = page.id[2];
      out += Format("\n{}\n", report::LocaleText(Format("family.{}", family), language));
    }
    out += Format("  {}  {:<28}  {}\n", page.id, page.name, TextOf(page, language).title);
  }
  return out + "\n" + report::LocaleText("rules.hint", language) + "\n";
}

std::string Indented(std::string_view text, std::string_view indent) {
  std::string out(indent);
  for (const char c : text) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out + "\n";
}

// {{name}} stays as it is: without a finding there is nothing to fill in.
std::string PageAsText(const RulePage& page, Language language) {
  const PageText& text = TextOf(page, language);
  std::string out = Format("{} {}\n{}\n\n{}\n", page.id, page.name, text.title, text.summary);
  if (!text.about.empty()) out += Format("\n{}\n", text.about);
  if (!text.fixes.empty()) out += "\n" + report::LocaleText("finding.fix", language) + "\n";
  for (const PageFix& fix : text.fixes) {
    out += Format("- {}: {}\n", report::LocaleText(Format("framework.{}", fix.framework), language), fix.text);
    if (!fix.code.empty()) out += Indented(fix.code, "    ");
  }
  if (!text.next.empty())
    out += "\n" + report::LocaleText("finding.next", language, {{"next", std::string(text.next)}}) + "\n";
  return out;
}

int Write(const std::string& text, const Arguments& arguments) {
  const Result<void> done = WriteResult(text, arguments);
  return done ? 0 : Fail(done.error());
}

int Run(const Arguments& arguments) {
  const Language language = arguments.options.language;
  const bool json = arguments.options.format == "json";
  if (arguments.positionals.empty()) {
    Json::Array all;
    for (const RulePage& page : RulePages()) all.push_back(Brief(page, language));
    return Write(json ? Json(std::move(all)).Dump(2) + "\n" : ListText(language), arguments);
  }
  const std::string& wanted = arguments.positionals.front();
  std::vector<std::string> names;
  for (const RulePage& page : RulePages()) {
    if (page.id == wanted || page.name == wanted) {
      return Write(json ? Whole(page, language).Dump(2) + "\n" : PageAsText(page, language), arguments);
    }
    names.emplace_back(page.name);
    names.emplace_back(page.id);
  }
  return Fail(Error{ErrorCode::kUsage, Format("unknown rule '{}'", wanted),
                    Format("did you mean '{}'?", Nearest(wanted, names))});
}

}  // namespace

extern const Subcommand kSubcommand_rules;
constinit const Subcommand kSubcommand_rules{
    .name = "rules",
    .summary = "List the causes that gpuwhy knows, or show the page of one (by id or name)",
    .positionals = "[ID|NAME]",
    .min_positionals = 0,
    .max_positionals = 1,
    .takes_command = false,
    .flags = {},
    .run = &Run};

}  // namespace gpuwhy::cli
