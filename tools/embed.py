#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Embeds files into a C++ source as one sorted table of {path, data}.

usage: embed.py --root DIR --out FILE.cc --function EmbeddedAgent --header base/embed.h FILE...
Paths in the table are relative to the root, with forward slashes. String literals are used, not arrays of numbers:
a compiler reads them about a hundred times faster, and they need no assembler directive that differs by target.
"""
import argparse
import pathlib
import sys

import cpp_text


class EmbedError(Exception):
    """A file that cannot be embedded."""


def collect(root, names):
    """Sorted (relative path, bytes); refuses files outside the root and double names."""
    result = {}
    for name in names:
        path = pathlib.Path(name)
        path = path if path.is_absolute() else (root / path if (root / path).exists() else path)
        try:
            relative = path.resolve().relative_to(root.resolve()).as_posix()
            data = path.read_bytes()
        except ValueError as fault:
            raise EmbedError(f"{name}: not inside --root {root}") from fault
        except OSError as fault:
            raise EmbedError(f"{name}: {fault.strerror}") from fault
        if relative in result:
            raise EmbedError(f"{name}: given twice")
        result[relative] = data
    return sorted(result.items())


def render(files, header, function):
    """The C++ source."""
    lines = [cpp_text.banner("embed.py", "files of the repository"), f'#include "{header}"\n', "#include <span>"]
    lines.append("#include <string_view>\n\nnamespace gpuwhy {")
    if files:
        lines.append('#pragma GCC diagnostic ignored "-Woverlength-strings"  // only a limit of the standard\'s minimum')
        lines.append("namespace {\n")
        for number, (_, data) in enumerate(files):
            lines.append(f"constexpr char kData{number}[] =\n    {cpp_text.literal(data)};")
        lines.append("\nconstexpr EmbeddedFile kFiles[] = {")
        for number, (path, data) in enumerate(files):
            lines.append(f"    {{{cpp_text.literal(path)}, std::string_view(kData{number}, {len(data)})}},")
        lines.append("};\n\n}  // namespace")
    result = "kFiles" if files else "{}"
    lines.append(f"\nstd::span<const EmbeddedFile> {function}() {{ return {result}; }}\n\n}}  // namespace gpuwhy\n")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", required=True, type=pathlib.Path, help="folder that the paths are relative to")
    parser.add_argument("--out", required=True)
    parser.add_argument("--function", required=True, help="name of the function in namespace gpuwhy")
    parser.add_argument("--header", required=True, help="header that declares EmbeddedFile")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args(arguments)
    try:
        text = render(collect(options.root, options.files), options.header, options.function)
        cpp_text.write_if_changed(options.out, text)
    except EmbedError as fault:
        print(f"embed.py: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
