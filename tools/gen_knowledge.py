#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Turns knowledge/*.tsv (facts about drivers, frameworks, GPUs, error numbers) into C++ tables and one reference page.

usage: gen_knowledge.py [--folder knowledge] [--out FILE.cc] [--docs FILE.md] [--check FILE.md]
--check fails when the page is not what the tables say. Without an option only the tables are checked.
Prints FILE:LINE: message for every fault of a row; exit status 1 when there is one.
"""
import argparse
import collections
import pathlib
import re
import sys

import cpp_text

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = r"\d+(\.\d+)*"
KINDS = {  # what a field may hold; "-" is unknown or none where the kind allows it
    "text": r"[^\t]*\S[^\t]*",
    "count": r"\d+",
    "version": VERSION,
    "version?": VERSION + r"|-",
    "capability": r"\d+\.\d",
    "number?": r"\d+(\.\d+)?|-",
    "cuda": VERSION + "|none",
    "archs": r"\d+\.\d( \d+\.\d)*(\+PTX)?|-",
    "os": "any|linux|windows|macos",
    "blame": "app|driver|hardware|info",
}
Table = collections.namedtuple("Table", "title type function columns unique")
TABLES = {
    "driver_cuda": Table("Driver branch and CUDA version", "DriverBranch", "DriverBranches", {
        "branch": "count", "cuda": "version", "cuda_max": "version", "linux": "version?", "windows": "version?",
        "source": "text"}, ("branch",)),
    "cuda_minimum_driver": Table("Oldest driver for a CUDA major version", "MinimumDriver", "MinimumDrivers", {
        "major": "count", "linux": "version", "windows": "version", "source": "text"}, ("major",)),
    "framework_builds": Table("Framework builds", "FrameworkBuild", "FrameworkBuilds", {
        "framework": "text", "from": "version", "to": "version?", "os": "os", "variant": "text", "cuda": "cuda",
        "cudnn": "version?", "archs": "archs", "source": "text"}, ("framework", "from", "os", "variant")),
    "gpus": Table("GPUs", "GpuModel", "GpuModels", {
        "name": "text", "capability": "capability", "watts": "number?", "gib": "number?", "architecture": "text",
        "source": "text"}, ("name",)),
    "cuda_errors": Table("CUDA error numbers", "CudaError", "CudaErrors", {
        "number": "count", "runtime": "text", "driver": "text", "en": "text", "zh": "text", "hint_en": "text",
        "hint_zh": "text", "source": "text"}, ("number",)),
    "xid": Table("Xid numbers", "Xid", "Xids", {
        "number": "count", "blame": "blame", "en": "text", "zh": "text", "source": "text"}, ("number",)),
}


def row_faults(table, fields):
    """What is wrong with the fields of one row."""
    if len(fields) != len(table.columns):
        return [f"{len(fields)} fields, {len(table.columns)} columns"]
    return [f"{name} '{field}' is no {kind.rstrip('?')}" for (name, kind), field in zip(table.columns.items(), fields)
            if not re.fullmatch(KINDS[kind], field)]


def load(folder, name, faults):
    """(comments, rows as dictionaries) of a table; faults are appended as FILE:LINE: message."""
    path, table = folder / f"{name}.tsv", TABLES[name]
    comments, rows, seen, header = [], [], set(), None
    if not path.is_file():
        faults.append(f"{path}: no such table")
        return comments, rows
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            comments.append(line[1:].strip())
        elif header is None:
            header = line.split("\t")
            if header != list(table.columns):
                faults.append(f"{path}:{number}: columns are {header}, not {list(table.columns)}")
        elif line:
            fields = line.split("\t")
            found = row_faults(table, fields)
            faults += [f"{path}:{number}: {fault}" for fault in found]
            if found:
                continue
            rows.append(dict(zip(table.columns, fields)))
            key = tuple(rows[-1][column].lower() for column in table.unique)
            if key in seen:
                faults.append(f"{path}:{number}: {' '.join(key)} stands twice")
            seen.add(key)
    return [line for line in comments if "SPDX" not in line], rows


def sort_faults(folder, tables):
    """The lookup walks driver branches upwards, so their order and their CUDA versions must rise."""
    faults, before = [], None
    for row in tables["driver_cuda"][1]:
        cuda = [int(part) for part in row["cuda"].split(".")]
        key = (int(row["branch"]), cuda)
        if before is not None and (key[0] <= before[0] or cuda < before[1] and row["linux"] != "-"):
            faults.append(f"{folder / 'driver_cuda.tsv'}: branch {row['branch']} is out of order")
        before = key
    return faults


def initializer(kind, field):
    """A C++ value: numbers stay numbers (0 = unknown), "-" and "none" become empty texts."""
    if kind in ("count", "number?"):
        return "0" if field == "-" else field
    return cpp_text.literal("" if field == "-" else field)


def render(tables):
    """The C++ source."""
    parts = [cpp_text.banner("gen_knowledge.py", "knowledge"), '#include "knowledge/tables.h"\n\nnamespace gpuwhy::knowledge {\n']
    for name, table in TABLES.items():
        rows = tables[name][1]
        parts.append(f"namespace {{\nconstexpr {table.type} k{table.function}[] = {{\n")
        for row in rows:
            values = ", ".join(initializer(kind, row[column]) for column, kind in table.columns.items())
            parts.append(f"    {{{values}}},\n")
        parts.append(f"}};\n}}  // namespace\nstd::span<const {table.type}> {table.function}() {{ return k{table.function}; }}\n\n")
    parts.append("}  // namespace gpuwhy::knowledge\n")
    return "".join(parts)


def reference(tables):
    """The page: every table with its rows and their sources."""
    lines = ["# What gpuwhy knows by heart", "",
             "Generated from `knowledge/*.tsv` by `tools/gen_knowledge.py --docs docs/knowledge.md`; edit the tables, not this page.",
             "What is not in a table is unknown to gpuwhy: it then says so and never guesses."]
    for name, table in TABLES.items():
        comments, rows = tables[name]
        lines += ["", f"## {table.title}", f"`knowledge/{name}.tsv`. " + " ".join(comments), ""]
        lines += ["| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns)]
        lines += ["| " + " | ".join(field.replace("|", "\\|") for field in row.values()) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", default=ROOT / "knowledge", type=pathlib.Path)
    parser.add_argument("--out", help="C++ file to write")
    parser.add_argument("--docs", help="reference page to write")
    parser.add_argument("--check", type=pathlib.Path, help="reference page that must be up to date")
    options = parser.parse_args(arguments)
    faults = []
    tables = {name: load(options.folder, name, faults) for name in TABLES}
    faults += sort_faults(options.folder, tables) if not faults else []
    if options.check and not faults:
        current = options.check.read_text(encoding="utf-8") if options.check.is_file() else ""
        if current != reference(tables):
            faults.append(f"{options.check}: not what the tables say; run tools/gen_knowledge.py --docs {options.check}")
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    if options.out:
        cpp_text.write_if_changed(options.out, render(tables))
    if options.docs:
        cpp_text.write_if_changed(options.docs, reference(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
