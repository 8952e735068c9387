#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the three files of a new rule: source, page, case file. Nothing else has to be edited.

usage: new_rule.py NAME --family N        NAME is the cause in kebab-case, N the hundreds digit of the id (0 to 9)
The files hold markers that check_rules.py refuses until a person has replaced them; the source compiles as it is.
"""
import argparse
import pathlib
import re
import subprocess
import sys

from check_rules import MARKER

SOURCE = """// SPDX-FileCopyrightText: 2026 the gpuwhy authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/rule.h"

namespace gpuwhy::rules {{
namespace {{

// {marker}: the facts and metrics that Check reads; without them the answer is cannot-tell.
constexpr std::string_view kNeeds[] = {{"gpu.utilization.ratio"}};

// {marker}: thresholds as named constants, each with its reason and source, then the check.
RuleOutcome Check(const RuleContext&) {{ return RuleOutcome::CannotTell({{"gpu.utilization.ratio"}}); }}

}}  // namespace

extern constinit const Rule kRule_{stem}{{.id = "{id}",
{indent}.name = "{name}",
{indent}.since = "{since}",
{indent}.stage = Stage::kSpeed,  // {marker}: what has to be removed before this cause can matter
{indent}.needs = kNeeds,
{indent}.check = &Check}};

}}  // namespace gpuwhy::rules
"""
SECTIONS = """### title
{marker} one line

### summary
{marker} one sentence

### fix any
{marker} what to do

### about
{marker} what it means, how it is recognised, when it is not the cause, sources
"""
CASE = """# {id} {name}: evidence inline; more silent blocks than firing ones.
--- fires: {marker} typical
fact {marker}
expect severity=warning confidence=0.6

--- clear: {marker} healthy job
fact {marker}

--- cannot-tell: {marker} nothing known
"""


def used_ids(root):
    """Every id that has ever had a page or a source, the removed ones in the history included."""
    text = "\n".join(path.name for path in (root / "docs" / "rules").glob("GW*.md"))
    for path in (root / "src" / "rules").glob("*.cc"):
        text += "\n" + path.read_text(encoding="utf-8")
    command = ["git", "-C", str(root), "log", "--all", "--format=", "--name-only", "--", "docs/rules"]
    history = subprocess.run(command, capture_output=True, text=True, check=False)
    return {int(number) for number in re.findall(r"\bGW(\d{3})\b", text + "\n" + history.stdout)}


def next_id(root, family):
    """The id after the highest that the family has ever used, as GWnnn; None when the family is full."""
    own = [number for number in used_ids(root) if number // 100 == family]
    number = max(own, default=family * 100) + 1
    return f"GW{number:03d}" if number < (family + 1) * 100 else None


def files(root, name, identity, since):
    """{path: content} of the three files."""
    stem = name.replace("-", "_")
    indent = " " * len(f"extern constinit const Rule kRule_{stem}{{")
    values = {"marker": MARKER, "id": identity, "name": name, "stem": stem, "since": since, "indent": indent}
    sections = SECTIONS.format(**values)
    page = f"# {identity} {name}\n## en\n{sections}\n## zh\n{sections}"
    return {
        root / "src" / "rules" / f"{values['stem']}.cc": SOURCE.format(**values),
        root / "docs" / "rules" / f"{identity}-{name}.md": page,
        root / "tests" / "rules" / f"{values['stem']}.case": CASE.format(**values),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("name", help="the cause in kebab-case, such as small-batch")
    parser.add_argument("--family", required=True, type=int, choices=range(10), help="hundreds digit of the id")
    parser.add_argument("--since", default="0.1", help="version that brings the rule (default 0.1)")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args(arguments)
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", options.name):
        parser.error(f"'{options.name}' is not kebab-case: lower-case words joined by '-'")
    identity = next_id(options.root, options.family)
    if identity is None:
        parser.error(f"family {options.family} has no id left")
    written = files(options.root, options.name, identity, options.since)
    existing = [str(path) for path in written if path.exists()]
    if existing:
        parser.error(f"{existing[0]} exists already")
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(options.root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
