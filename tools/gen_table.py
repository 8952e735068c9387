#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of a folder: the folder is the list, nobody edits a registry.

usage: gen_table.py --folder src/rules --pattern '*.cc' --prefix kRule_ --type Rule --namespace gpuwhy::rules
                    --header engine/rule.h --function AllRules --out FILE.cc
With --subfolders each sub-folder that holds a matching file is one entry (constant: prefix + folder name).
A constant that a file forgot or misnamed becomes a link error that names it.
"""
import argparse
import pathlib
import re
import sys

import cpp_text

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")


class TableError(Exception):
    """A folder that cannot become a table."""


def entries(folder, pattern, subfolders, excluded):
    """Sorted names of the table's entries: folder or file names, without what the pattern has before its star."""
    if not folder.is_dir():
        raise TableError(f"{folder}: no such folder")
    files = folder.glob("*/" + pattern if subfolders else pattern)
    fixed = 0 if subfolders else len(pattern.split("*", maxsplit=1)[0])
    names = sorted({path.parent.name if subfolders else path.stem[fixed:] for path in files} - set(excluded))
    for name in names:
        if not IDENTIFIER.fullmatch(name):
            raise TableError(f"{folder / name}: the name must be snake_case ([a-z][a-z0-9_]*), it becomes a constant")
    return names


def render(options, names):
    """The C++ source: declarations, one constexpr array of pointers, one function."""
    constants = [options.prefix + name for name in names]
    lines = [cpp_text.banner("gen_table.py", options.folder.name), f'#include "{options.header}"\n', "#include <span>\n"]
    if names:
        lines.append(f"namespace {options.namespace} {{")
        lines += [f"extern const {options.type} {constant};" for constant in constants]
        lines.append(f"}}  // namespace {options.namespace}\n")
    lines.append(f"namespace {options.function_namespace} {{")
    if names:
        lines.append(f"namespace {{\nconstexpr const {options.type}* k{options.function}[] = {{")
        lines += [f"    &::{options.namespace}::{constant}," for constant in constants]
        lines.append("};\n}  // namespace\n")
    result = f"k{options.function}" if names else "{}"
    lines.append(f"std::span<const {options.type}* const> {options.function}() {{ return {result}; }}\n")
    lines.append(f"}}  // namespace {options.function_namespace}\n")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--pattern", default="*.cc", help="file names that count (default *.cc)")
    parser.add_argument("--prefix", required=True, help="prefix of the constants, such as kRule_")
    parser.add_argument("--type", required=True, help="type of the constants")
    parser.add_argument("--namespace", default="gpuwhy", help="namespace of the constants")
    parser.add_argument("--header", required=True, help="header that declares the type and the function")
    parser.add_argument("--function", required=True, help="name of the function")
    parser.add_argument("--function-namespace", default="gpuwhy", help="namespace of the function")
    parser.add_argument("--subfolders", action="store_true", help="one entry for each sub-folder")
    parser.add_argument("--exclude", action="append", default=[], metavar="NAME", help="leave out an entry")
    parser.add_argument("--out", required=True)
    options = parser.parse_args(arguments)
    try:
        names = entries(options.folder, options.pattern, options.subfolders, options.exclude)
        cpp_text.write_if_changed(options.out, render(options, names))
    except TableError as fault:
        print(f"gen_table.py: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
