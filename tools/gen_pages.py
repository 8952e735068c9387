#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Turns the pages of the rules into a C++ table that defines gpuwhy::RulePages().

usage: gen_pages.py [--pages docs/rules] --out FILE.cc
A page with a missing section or unequal placeholders fails with FILE:LINE: message, exit status 1.
"""
import argparse
import pathlib
import sys

import cpp_text
import rule_page

ROOT = pathlib.Path(__file__).resolve().parent.parent


def fixes_array(page, language):
    """The array of a language's fixes and the name to use for it ('{}' when there are none)."""
    fixes = page.texts[language].fixes
    if not fixes:
        return "", "{}"
    name = f"k{page.id}Fixes{language.capitalize()}"
    rows = "".join(
        f"    {{{cpp_text.literal(fix.framework)},\n     {cpp_text.literal(fix.text, '     ')},\n"
        f"     {cpp_text.literal(fix.code, '     ')}}},\n"
        for fix in fixes
    )
    return f"constexpr PageFix {name}[] = {{\n{rows}}};\n", name


def text_fields(page, language, fixes):
    """The initialiser of one PageText."""
    sections = page.texts[language].sections
    fields = (("title", "title"), ("summary", "summary"), ("next", "next"), ("about", "about"))
    rows = "".join(
        f"         .{field} = {cpp_text.literal(sections.get(key, ''), '             ')},\n" for field, key in fields
    )
    return f"{{\n{rows}         .fixes = {fixes}}}"


def render(pages, header):
    """The whole C++ file."""
    arrays, rows = [], []
    for page in pages:
        texts = []
        for language in rule_page.LANGUAGES:
            array, name = fixes_array(page, language)
            arrays.append(array)
            texts.append(f"     .{language} = {text_fields(page, language, name)}")
        rows.append(f'    {{.id = "{page.id}",\n     .name = "{page.name}",\n' + ",\n".join(texts) + "},\n")
    body = "namespace gpuwhy {\n"
    if rows:
        body += f"namespace {{\n\n{''.join(arrays)}\nconstexpr RulePage kPages[] = {{\n{''.join(rows)}}};\n\n}}  // namespace\n"
    result = "kPages" if rows else "{}"
    body += f"\nstd::span<const RulePage> RulePages() {{ return {result}; }}\n\n}}  // namespace gpuwhy\n"
    return cpp_text.banner("gen_pages.py", "docs/rules") + f'\n#include "{header}"\n\n#include <span>\n\n' + body


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pages", default=ROOT / "docs" / "rules", type=pathlib.Path, help="folder of the pages")
    parser.add_argument("--header", default="model/page.h", help="header that declares RulePages()")
    parser.add_argument("--out", required=True, help="C++ file to write")
    options = parser.parse_args(arguments)
    try:
        if not options.pages.is_dir():
            raise rule_page.PageError(options.pages, 0, "no such folder of pages")
        cpp_text.write_if_changed(options.out, render(rule_page.parse_all(options.pages), options.header))
    except (rule_page.PageError, UnicodeDecodeError) as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
