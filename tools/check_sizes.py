#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the hard limits of size: 400 lines a file, 40 lines a function, 140 columns (C++ and Python).

usage: check_sizes.py [--root DIR] [FILE...]    without files: every file that git tracks or would track
Prints FILE:LINE: message for every fault; exit status 1 when there is one.
"""
import argparse
import ast
import pathlib
import re
import subprocess
import sys

MAX_FILE, MAX_FUNCTION, MAX_COLUMNS = 400, 40, 140
CPP = (".cc", ".h", ".cu", ".c")
KINDS = CPP + (".py", ".sh")
SKIPPED = re.compile(r"(^|/)(data|fixtures|corpus)/")
SCOPE = re.compile(r'^((inline|typedef)\s+)?(namespace|class|struct|union|enum)\b|^extern\s*""\s*$')
LABEL = re.compile(r"^\s*(public|private|protected)\s*:(?!:)")
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)


def blank(match):
    """The same number of lines without the text; string literals keep their quotes."""
    text = match[0]
    return ('""' if text[0] in "\"R'" else "") + "\n" * text.count("\n")


def strip_header(header):
    """A declaration without access label, attributes and template parameters, from its first word on."""
    header = LABEL.sub("", header)
    header = re.sub(r"\[\[.*?\]\]", " ", header, flags=re.DOTALL).strip()
    while header.startswith("template"):
        depth, at = 0, header.index("<") if "<" in header else len(header) - 1
        for at in range(at, len(header)):
            depth += {"<": 1, ">": -1}.get(header[at], 0)
            if depth == 0:
                break
        header = header[at + 1:].strip()
    return header


def matching(text, start):
    """Index of the brace or parenthesis that closes the one at `start`; -1 when there is none."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return -1


def is_body(text, header, end):
    """True when the braces that end at `end` are a function's body, not an initialiser of one of its members."""
    rest = text[end + 1:end + 200].lstrip()
    return "(" in header and not header.rstrip().endswith("=") and not rest.startswith((",", "{"))


def cpp_functions(source):
    """Yields (first line, last line) of every function outside other functions; (line, None) when braces do not match."""
    text = DIRECTIVE.sub(lambda match: "\n" * match[0].count("\n"), NOISE.sub(blank, source))
    at, begin = 0, 0
    while at < len(text):
        char = text[at]
        if char in ";}":
            begin = at + 1
        elif char == "(":
            at = matching(text, at)
        elif char == "{" and not SCOPE.match(strip_header(text[begin:at])):
            header, end = text[begin:at], matching(text, at)
            if end >= 0 and is_body(text, header, end):
                first = at - len(LABEL.sub("", header).lstrip())
                yield text.count("\n", 0, first) + 1, text.count("\n", 0, end) + 1
                begin = end + 1
            at = end
        elif char == "{":
            begin = at + 1
        if at < 0:
            yield text.count("\n", 0, begin) + 1, None
            return
        at += 1


def python_functions(source, name):
    """Yields (first line, last line) of every Python function, nested ones included."""
    for node in ast.walk(ast.parse(source, name)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def check_file(path, name):
    """Yields the faults of one file."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    if len(lines) > MAX_FILE:
        yield f"{name}:{MAX_FILE + 1}: {len(lines)} lines, the limit is {MAX_FILE}: split the file by what it does"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, the limit is {MAX_COLUMNS}"
    functions = ()
    if path.suffix in CPP:
        functions = cpp_functions(source)
    elif path.suffix == ".py":
        functions = python_functions(source, name)
    for first, last in functions:
        if last is None:
            yield f"{name}:{first}: braces do not match from here on; functions cannot be measured"
        elif last - first + 1 > MAX_FUNCTION:
            yield f"{name}:{first}: a function of {last - first + 1} lines, the limit is {MAX_FUNCTION}"


def tracked(root):
    """Files that git tracks or would track, without recorded data."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = [name for name in output.split("\0") if name.endswith(KINDS) and not SKIPPED.search(name)]
    return sorted({name for name in names if (root / name).is_file()})


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args(arguments)
    names = options.files or tracked(options.root)
    faults = [fault for name in names for fault in check_file(options.root / name, name)]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"check_sizes: {len(names)} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
