# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""C++ text shared by the generators: string literals and files that are only rewritten when they change."""
import pathlib
import re

_ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n", ord("\t"): "\\t", ord("?"): "\\?"}
# Always three octal digits: a shorter escape would swallow a digit that follows it. "?" is escaped against trigraphs.
_BYTES = [_ESCAPES.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in range(256)]


def literal(data, indent="    ", width=4096):
    """Adjacent string literals for bytes or text: one a line of text, split after `width` source bytes."""
    data = data.encode("utf-8") if isinstance(data, str) else data
    lines = re.findall(b"[^\n]*\n|[^\n]+", data) or [b""]
    pieces = [line[at:at + width] for line in lines for at in range(0, max(len(line), 1), width)]
    return f"\n{indent}".join('"' + "".join(map(_BYTES.__getitem__, piece)) + '"' for piece in pieces)


def write_if_changed(path, text):
    """Leaves the file and its time alone when the content is the same, so that nothing is compiled again."""
    path = pathlib.Path(path)
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


def banner(tool, source):
    """First lines of a generated file."""
    return (
        "// SPDX-FileCopyrightText: 2026 the gpuwhy authors\n// SPDX-License-Identifier: Apache-2.0\n"
        f"// Generated from {source} by tools/{tool}. Do not edit.\n"
    )
