// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#ifndef GPUWHY_SESSION_SHARE_H_
#define GPUWHY_SESSION_SHARE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/evidence.h"

namespace gpuwhy {

// The text of a session that holds this evidence (facts, samples and gaps), as SessionWriter writes it.
Result<std::string> SessionText(const Evidence& evidence);

// The session inside a text that a person pasted: within a Markdown fence, quoted with "> " or "| ", indented, with the
// HTML escapes of a web page. Nothing when there is none.
std::optional<std::string> FindQuotedSession(std::string_view text);

}  // namespace gpuwhy

#endif  // GPUWHY_SESSION_SHARE_H_
