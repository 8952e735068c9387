// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/text.h"
#include "session/share.h"

namespace gpuwhy {
namespace {

constexpr std::string_view kHeader = "{\"schema\":\"gpuwhy.session/";
constexpr std::string_view kRecord = "{\"k\":\"";

// Marks that mail programs, forums and chats put before a quoted line.
std::string_view WithoutQuote(std::string_view line) {
  const size_t first = line.find_first_not_of("> |\t*");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

// A web page's source has its quotes escaped; "&amp;" last, so that "&amp;lt;" stays what it was.
std::string Unescaped(std::string_view line) {
  struct Escape {
    std::string_view from, to;
  };
  constexpr Escape kEscapes[] = {{"&quot;", "\""}, {"&#34;", "\""}, {"&gt;", ">"},
                                 {"&lt;", "<"},    {"&#39;", "'"},  {"&amp;", "&"}};
  std::string out(line);
  for (const Escape& escape : kEscapes) {
    for (size_t at = out.find(escape.from); at != std::string::npos; at = out.find(escape.from, at + escape.to.size()))
      out.replace(at, escape.from.size(), escape.to);
  }
  return out;
}

}  // namespace

std::optional<std::string> FindQuotedSession(std::string_view text) {
  std::string session;
  size_t last = 0;  // where the last line of `session` begins
  bool escaped = false;
  for (const std::string_view raw : Lines(text)) {
    const std::string_view quoted = WithoutQuote(raw);
    const bool plain = quoted.substr(0, kHeader.size()) == kHeader;
    const std::string unescaped = escaped || (session.empty() && !plain) ? Unescaped(quoted) : std::string(quoted);
    const std::string_view line = Trim(WithoutQuote(unescaped));
    if (session.empty()) {
      escaped = !plain;
      if (line.substr(0, kHeader.size()) == kHeader) session = std::string(line) + "\n";
      continue;
    }
    if (line.empty()) continue;
    if (line.substr(0, kRecord.size()) == kRecord) {
      last = session.size();
    } else {
      // A line that was broken by a mail program goes on in the next one; behind a whole one the session has ended.
      if (Json::Parse(Trim(std::string_view(session).substr(last)))) break;
      session.back() = ' ';
    }
    session += std::string(line) + "\n";
  }
  return session.empty() ? std::nullopt : std::optional<std::string>(std::move(session));
}

}  // namespace gpuwhy
