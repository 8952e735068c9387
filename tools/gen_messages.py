#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Turns knowledge/messages/*.tsv (lines that programs print, as templates) into one constexpr C++ array.

usage: gen_messages.py --out FILE.cc FILE.tsv...
Prints FILE:LINE: message for every fault of a row; exit status 1 when there is one. docs/messages.md has the format.
"""
import argparse
import collections
import pathlib
import re
import sys

import cpp_text

COLUMNS = ["id", "rung", "template", "facts", "source"]
RUNGS = {"framework": "kFramework", "cuda": "kCuda", "os": "kOs", "driver": "kDriver", "device": "kDevice"}
KINDS = {"": "kText", "w": "kWord", "v": "kVersion", "s": "kSize", "n": "kCount"}
# An id may have a variant ("torch_oom/old"): other wordings of one message, which rules see under one name.
IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*(/[a-z0-9_]+)?")
CAPTURE = re.compile(r"([a-z][a-z0-9_]*)(?::([a-z]+))?")
TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
FACT_NAME = re.compile(r"[a-z][a-z0-9_.]*(?:\{[a-z0-9_]+\}[a-z0-9_.]*)*(?:[A-Z][A-Z0-9_]*)?")
USED = re.compile(r"\{([a-z0-9_]*)\}")
SEPARATOR = re.compile(r';(?=(?:[^"]*"[^"]*")*[^"]*$)')  # a semicolon outside of quotes
GRAM = 4  # bytes of text that the matcher looks for first
LENGTH_LIMIT = 400

Row = collections.namedtuple("Row", "key rung anchored pieces facts source")


class RowError(Exception):
    """Why a row cannot be used."""


def parse_template(text):
    """[(literal, capture, kind)]: each literal is followed by a capture, the last one perhaps by none."""
    pieces, literal = [], ""
    for token in TOKEN.finditer(re.sub(r"[ \t]+", " ", text.strip())):
        word = token[0]
        if token[1] is None:
            if word in "{}":
                raise RowError(f"a single '{word}' in the template; write '{word}{word}' for the character itself")
            literal += {"{{": "{", "}}": "}"}.get(word, word)
            continue
        match = CAPTURE.fullmatch(token[1])
        if not match or (match[2] or "") not in KINDS:
            raise RowError(f"bad capture '{word}'; write {{name}} or {{name:K}}, K one of w, v, s, n (docs/messages.md)")
        if not literal and pieces:
            raise RowError(f"nothing stands between '{{{pieces[-1][1]}}}' and '{word}'")
        pieces.append((literal, match[1], KINDS[match[2] or ""]))
        literal = ""
    if literal or not pieces:
        pieces.append((literal, "", "kNone"))
    names = [name for _, name, _ in pieces if name]
    if len(set(names)) != len(names):
        raise RowError("two captures share a name")
    if not any(len(literal.encode()) >= GRAM for literal, _, _ in pieces):
        raise RowError(f"no literal of at least {GRAM} bytes: the template would match too much and be slow")
    return pieces


def parse_facts(text, captures):
    """[(name, kind, value)] of the facts column."""
    facts = []
    for part in SEPARATOR.split(text) if text.strip() else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not FACT_NAME.fullmatch(name):
            raise RowError(f"bad fact '{part.strip()}'; write name=true, name=12, name={{capture}}, name=[{{capture}}] or name=\"text\"")
        if value in ("true", "false"):
            kind = "kBool"
        elif re.fullmatch(r"-?\d+|\{[a-z0-9_]+\}", value):
            kind = "kInteger"
        elif re.fullmatch(r"\[\{[a-z0-9_]+\}\]", value):
            kind, value = "kList", value[1:-1]
        elif re.fullmatch(r'"[^"]*"', value):
            kind, value = "kText", value[1:-1]
        else:
            raise RowError(f"bad value of the fact {name}: {value or 'nothing'}")
        for used in USED.findall(name + value):
            if used not in captures:
                raise RowError(f"the fact {name} uses {{{used}}}, which the template does not capture")
        facts.append((name, kind, value))
    return facts


def parse_row(line):
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise RowError(f"{len(cells)} columns instead of {len(COLUMNS)} ({', '.join(COLUMNS)}; separated by one tab)")
    key, rung, template, facts, source = (cell.strip() for cell in cells)
    if not IDENTIFIER.fullmatch(key):
        raise RowError(f"bad id '{key}': snake_case, with an optional /variant")
    if rung not in RUNGS:
        raise RowError(f"unknown rung '{rung}' ({', '.join(RUNGS)})")
    if not source:
        raise RowError("empty source: say where the wording comes from")
    if len(template) > LENGTH_LIMIT:
        raise RowError(f"a template of {len(template)} characters; the deciding part is enough ({LENGTH_LIMIT} at most)")
    anchored = template.startswith("^")
    pieces = parse_template(template.removeprefix("^"))
    if anchored and not pieces[0][0]:
        raise RowError("a literal must follow '^', the begin of the line")
    return Row(key, rung, anchored, pieces, parse_facts(facts, {name for _, name, _ in pieces if name}), source)


def read(paths):
    """(rows, faults) of all files; a fault is a printable line."""
    rows, faults, seen = [], [], {}
    for path in sorted(paths):
        header = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            place = f"{path}:{number}"
            if not line.strip() or line.startswith("#"):
                continue
            if not header:
                header = True
                if line.split("\t") != COLUMNS:
                    faults.append(f"{place}: the first row must name the columns: {' '.join(COLUMNS)} (separated by tabs)")
                continue
            try:
                row = parse_row(line)
                if row.key in seen:
                    raise RowError(f"the id {row.key} is taken by {seen[row.key][0]}")
                base = row.key.split("/")[0]
                for key, (where, rung) in seen.items():
                    if key.split("/")[0] == base and rung != row.rung:
                        raise RowError(f"the rung of {row.key} differs from that of {key} ({where})")
                seen[row.key] = (place, row.rung)
                rows.append(row)
            except RowError as fault:
                faults.append(f"{place}: {fault}")
    return sorted(rows, key=lambda row: row.key), faults


def grams(row):
    """All stretches of GRAM bytes in the literals of a row."""
    for literal, _, _ in row.pieces:
        data = literal.encode()
        yield from (data[at:at + GRAM] for at in range(len(data) - GRAM + 1))


def rarest_gram(row, frequency):
    """The stretch that the fewest templates hold: what the matcher looks for first."""
    return min(grams(row), key=lambda gram: (frequency[gram], sum(byte in b" etaoinsr" for byte in gram), gram))


def render(rows):
    frequency = collections.Counter(gram for row in rows for gram in set(grams(row)))
    quote = cpp_text.literal
    out = [cpp_text.banner("gen_messages.py", "knowledge/messages"), '#include "reader/messages/catalogue.h"\n']
    out.append("namespace gpuwhy::messages {\nnamespace {")
    for number, row in enumerate(rows):
        pieces = ", ".join(f"{{{quote(a)}, {quote(b)}, CaptureKind::{kind}}}" for a, b, kind in row.pieces)
        out.append(f"constexpr Piece kPieces{number}[] = {{{pieces}}};")
        if row.facts:
            facts = ", ".join(f"{{{quote(name)}, FactKind::{kind}, {quote(value)}}}" for name, kind, value in row.facts)
            out.append(f"constexpr FactTemplate kFacts{number}[] = {{{facts}}};")
    if rows:
        out.append("constexpr Message kMessages[] = {")
        for number, row in enumerate(rows):
            facts = f"kFacts{number}" if row.facts else "{}"
            cells = [quote(row.key.split("/")[0]), f"Source::{RUNGS[row.rung]}", str(row.anchored).lower(), f"kPieces{number}",
                     facts, quote(rarest_gram(row, frequency)), quote(row.source)]
            out.append(f"    {{{', '.join(cells)}}},")
        out.append("};")
    result = "kMessages" if rows else "{}"
    out.append(f"}}  // namespace\nstd::span<const Message> AllMessages() {{ return {result}; }}")
    out.append("}  // namespace gpuwhy::messages\n")
    return "\n".join(out)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--out", required=True)
    options = parser.parse_args(arguments)
    rows, faults = read(options.files)
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        cpp_text.write_if_changed(options.out, render(rows))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
