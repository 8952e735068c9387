#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every rule is complete: one source, one page in both languages, one case file, nothing left over.

usage: check_rules.py [--root DIR]
Prints FILE:LINE: message for every fault; exit status 1 when there is one.
"""
import argparse
import dataclasses
import pathlib
import re
import sys

import rule_page

CONSTANT = re.compile(r"extern\s+constinit\s+const\s+Rule\s+(\w+)\s*\{(.*?)\};", re.DOTALL)
PARAM = re.compile(r'\bParam\(\s*"([A-Za-z0-9_]+)"')
SHARE = re.compile(r"\bTimeFinding\(")  # fills in {{share}} itself (engine/lookup.h)
BLOCK = re.compile(r"^--- (fires|clear|cannot-tell): (\S.*)$")
# new_rule.py writes this marker where a person has to write; nothing that still holds it may land.
MARKER = "FILL" + "-IN"


@dataclasses.dataclass
class Rule:
    path: pathlib.Path
    stem: str
    id: str
    name: str
    text: str


def find_markers(path):
    """Faults for the markers of a skeleton that nobody filled in."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if MARKER in line:
            yield f"{path}:{number}: still the skeleton: replace the line marked {MARKER}"


def read_rule(path):
    """(Rule or None, faults) of one source."""
    text = path.read_text(encoding="utf-8")
    constants = CONSTANT.findall(text)
    if len(constants) != 1:
        return None, [f"{path}:1: expected exactly one 'extern constinit const Rule', found {len(constants)}"]
    constant, body = constants[0]
    line = text[:text.index(constant)].count("\n") + 1
    faults = []
    if constant != f"kRule_{path.stem}":
        faults.append(f"{path}:{line}: the constant is {constant}, its file asks for kRule_{path.stem}")
    fields = {field: re.search(rf'\.{field}\s*=\s*"([^"]*)"', body) for field in ("id", "name", "since")}
    missing = [field for field, match in fields.items() if not match]
    if missing:
        return None, faults + [f"{path}:{line}: the constant has no .{missing[0]}"]
    rule = Rule(path, path.stem, fields["id"][1], fields["name"][1], text)
    if not re.fullmatch(r"GW\d{3}", rule.id):
        faults.append(f"{path}:{line}: id '{rule.id}' is not of the form GWnnn")
    if rule.name != path.stem.replace("_", "-"):
        faults.append(f"{path}:{line}: name '{rule.name}' differs from the file name ({path.stem.replace('_', '-')})")
    return rule, faults


def check_page(rule, page_path):
    """Faults of the page of a rule."""
    if not page_path.is_file():
        return [f"{rule.path}:1: the page {page_path} is missing"]
    try:
        page = rule_page.parse(page_path)
    except rule_page.PageError as fault:
        return [str(fault)]
    faults, params = list(find_markers(page_path)), set(PARAM.findall(rule.text))
    params |= {"share"} if SHARE.search(rule.text) else set()
    for text in page.texts.values():
        for key, content, line in text.parts():
            for name in sorted(rule_page.placeholders(content) - params):
                faults.append(f"{page_path}:{line}: section '{key}': no Param(\"{name}\", ...) in {rule.path.name}")
    return faults


def read_blocks(path):
    """(blocks as (kind, name, line, content lines), faults) of a case file."""
    blocks, faults = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = BLOCK.match(line)
        if match:
            blocks.append((match[1], match[2].strip(), number, []))
        elif line.startswith("---"):
            faults.append(f"{path}:{number}: expected '--- fires|clear|cannot-tell: short name'")
        elif line.strip() and not line.lstrip().startswith("#"):
            if blocks:
                blocks[-1][3].append(line)
            else:
                faults.append(f"{path}:{number}: a line before the first block")
    return blocks, faults


def check_case(rule, path):
    """Faults of the case file of a rule."""
    if not path.is_file():
        return [f"{rule.path}:1: the case file {path} is missing"]
    blocks, faults = read_blocks(path)
    faults += find_markers(path)
    kinds = [kind for kind, _, _, _ in blocks]
    for kind in ("fires", "clear", "cannot-tell"):
        always_answers = kind == "cannot-tell" and "CannotTell(" not in rule.text
        if kind not in kinds and not always_answers:
            faults.append(f"{path}:1: no '--- {kind}:' block")
    firing = kinds.count("fires")
    if len(kinds) - firing <= firing:
        faults.append(f"{path}:1: {firing} firing and {len(kinds) - firing} silent blocks; a rule needs more silent ones")
    seen = set()
    for kind, name, line, content in blocks:
        if name in seen:
            faults.append(f"{path}:{line}: the block name '{name}' appears twice")
        seen.add(name)
        if kind == "fires" and not content:
            faults.append(f"{path}:{line}: a firing block without evidence")
    return faults


def check_orphans(root, rules):
    """Pages and case files that belong to no rule."""
    pages = {f"{rule.id}-{rule.name}.md" for rule in rules}
    cases = {f"{rule.stem}.case" for rule in rules}
    for folder, pattern, known in (("docs/rules", "*.md", pages), ("tests/rules", "*.case", cases)):
        for path in sorted((root / folder).glob(pattern)):
            if path.name not in known:
                yield f"{path}:1: belongs to no rule in src/rules"


def check(root):
    """All faults of a tree, as printable lines."""
    rules, faults, ids = [], [], {}
    for path in sorted((root / "src" / "rules").glob("*.cc")):
        rule, more = read_rule(path)
        faults += more + list(find_markers(path))
        if rule is None:
            continue
        rules.append(rule)
        if rule.id in ids:
            faults.append(f"{path}:1: {rule.id} is already the id of {ids[rule.id].path.name}; ids are never reused")
        ids.setdefault(rule.id, rule)
        faults += check_page(rule, root / "docs" / "rules" / f"{rule.id}-{rule.name}.md")
        faults += check_case(rule, root / "tests" / "rules" / f"{rule.stem}.case")
    faults += check_orphans(root, rules)
    return rules, [fault.replace(f"{root}/", "") for fault in faults]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args(arguments)
    rules, faults = check(options.root.resolve())
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"check_rules: {len(rules)} rules, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
