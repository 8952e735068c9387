#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the Python agent keeps to the syntax of Python 3.6, the oldest interpreter of a job.

usage: check_py36.py FILE...
A real 3.6 interpreter is used where there is one (GPUWHY_PYTHON36, python3.6); else the grammar of this one, told to
accept 3.6 only. Exit status 1 when a file does not compile.
"""
import ast
import os
import pathlib
import shutil
import subprocess
import sys

COMPILE = (
    "import sys\nbad = 0\nfor name in sys.argv[1:]:\n"
    "    try:\n        compile(open(name, encoding='utf-8').read(), name, 'exec')\n"
    "    except SyntaxError as fault:\n        bad = 1\n"
    "        print('%s:%s: not Python 3.6: %s' % (name, fault.lineno, fault.msg))\nsys.exit(bad)\n"
)


def interpreter():
    """A Python 3.6, or None."""
    for candidate in (os.environ.get("GPUWHY_PYTHON36"), shutil.which("python3.6")):
        if candidate:
            answer = subprocess.run([candidate, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True,
                                    text=True, check=False)
            if answer.stdout.strip() == "(3, 6)":
                return candidate
    return None


def check_grammar(name):
    """The fault of a file by this interpreter's grammar for 3.6, or None."""
    try:
        tree = ast.parse(pathlib.Path(name).read_text(encoding="utf-8"), name, feature_version=(3, 6))
    except SyntaxError as fault:
        return f"{name}:{fault.lineno}: not Python 3.6: {fault.msg}"
    for node in ast.walk(tree):
        # `from __future__ import annotations` is parsed by every version and refused by 3.6 only when it runs.
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            if any(alias.name == "annotations" for alias in node.names):
                return f"{name}:{node.lineno}: not Python 3.6: __future__.annotations came with 3.7"
    return None


def main(names):
    python = interpreter()
    if not names:
        return 0
    if python:
        return subprocess.run([python, "-c", COMPILE, *names], check=False).returncode
    faults = [fault for fault in map(check_grammar, names) if fault]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
