#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Turns locale/en.json and locale/zh.json into the C++ table of texts (gpuwhy::report::LocaleEntries).

usage: gen_locale.py [--en locale/en.json] [--zh locale/zh.json] [--out FILE.cc]
Fails, one line a fault, when a key or a {{placeholder}} is missing in one language, a key stands twice or a text is empty.
Without --out it only checks.
"""
import argparse
import json
import pathlib
import re
import sys

import cpp_text

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEY = re.compile(r"[a-z0-9_]+([.-][a-z0-9_]+)*")
PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
BRACES = re.compile(r"\{\{|\}\}")


def load(path, faults):
    """The texts of one language; faults are appended."""

    def no_doubles(pairs):
        seen = {}
        for key, value in pairs:
            if key in seen:
                faults.append(f"{path}: key '{key}' stands twice")
            seen[key] = value
        return seen

    try:
        texts = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=no_doubles)
    except (OSError, ValueError) as fault:
        faults.append(f"{path}: {fault}")
        return {}
    if not isinstance(texts, dict):
        faults.append(f"{path}: not a JSON object of key: text")
        return {}
    for key, value in texts.items():
        if not KEY.fullmatch(key):
            faults.append(f"{path}: key '{key}' is not made of lower-case words joined by dots")
        if not isinstance(value, str) or not value.strip():
            faults.append(f"{path}: the text of '{key}' is empty or no text")
        elif BRACES.search(PLACEHOLDER.sub("", value)):
            faults.append(f"{path}: '{key}' has a placeholder that is not {{{{lower_case}}}}")
    return texts


def compare(english, chinese, faults):
    """Appends a fault for every key and placeholder that only one language has."""
    for key in sorted(english.keys() ^ chinese.keys()):
        faults.append(f"'{key}' is missing in {'zh' if key in english else 'en'}")
    for key in sorted(english.keys() & chinese.keys()):
        ours, theirs = (set(PLACEHOLDER.findall(str(texts[key]))) for texts in (english, chinese))
        if ours != theirs:
            faults.append(f"'{key}': placeholders differ: en {sorted(ours)}, zh {sorted(theirs)}")


def render(english, chinese):
    """The C++ source."""
    rows = "".join(
        f"    {{{cpp_text.literal(key)},\n     {cpp_text.literal(english[key], '     ')},\n"
        f"     {cpp_text.literal(chinese[key], '     ')}}},\n"
        for key in sorted(english, key=lambda key: key.encode())
    )
    body = f"namespace {{\n\nconstexpr LocaleEntry kEntries[] = {{\n{rows}}};\n\n}}  // namespace\n\n" if rows else ""
    result = "kEntries" if rows else "{}"
    return (
        cpp_text.banner("gen_locale.py", "locale") + '#include "report/locale.h"\n\nnamespace gpuwhy::report {\n' + body
        + f"std::span<const LocaleEntry> LocaleEntries() {{ return {result}; }}\n\n}}  // namespace gpuwhy::report\n"
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--en", default=ROOT / "locale" / "en.json", type=pathlib.Path)
    parser.add_argument("--zh", default=ROOT / "locale" / "zh.json", type=pathlib.Path)
    parser.add_argument("--out", help="C++ file to write")
    options = parser.parse_args(arguments)
    faults = []
    english, chinese = load(options.en, faults), load(options.zh, faults)
    compare(english, chinese, faults)
    for fault in faults:
        print(f"gen_locale.py: {fault}", file=sys.stderr)
    if faults:
        return 1
    if options.out:
        cpp_text.write_if_changed(options.out, render(english, chinese))
    return 0


if __name__ == "__main__":
    sys.exit(main())
