# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""gen_knowledge.py refuses rows that it cannot vouch for, and notices a page that drifted from its tables."""
import pathlib
import shutil

import gen_knowledge
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path):
    """A copy of the tables that a test may spoil."""
    for path in (ROOT / "knowledge").glob("*.tsv"):
        shutil.copy(path, tmp_path)
    return tmp_path


def run(folder, *more):
    return gen_knowledge.main(["--folder", str(folder), *map(str, more)])


def add(folder, table, row):
    with open(folder / f"{table}.tsv", "a", encoding="utf-8") as file:
        file.write("\t".join(row) + "\n")


def test_the_tables_are_sound_and_the_page_is_theirs():
    assert run(ROOT / "knowledge", "--check", ROOT / "docs/knowledge.md") == 0


def test_drift_of_the_page_is_a_fault(folder, capsys):
    page = folder / "knowledge.md"
    assert run(folder, "--docs", page) == 0 and run(folder, "--check", page) == 0
    add(folder, "xid", ["9999", "app", "a test", "测试", "nowhere"])
    assert run(folder, "--check", page) == 1
    assert "not what the tables say" in capsys.readouterr().err


@pytest.mark.parametrize("table, row, words", [
    ("gpus", ["GeForce RTX 9999", "99", "1", "1", "X", "s"], "capability"),
    ("gpus", ["geforce rtx 4090", "8.9", "450", "24", "Ada", "s"], "stands twice"),
    ("gpus", ["GeForce RTX 9999", "9.9", "1", "1", "X", ""], "source"),
    ("xid", ["13", "app", "again", "又", "s"], "stands twice"),
    ("xid", ["9999", "nobody", "a", "b", "s"], "blame"),
    ("framework_builds", ["pytorch", "2.6", "-", "any", "cu126", "12.6"], "6 fields"),
    ("framework_builds", ["pytorch", "9.0", "-", "any", "cu126", "12.6", "-", "sm_90", "s"], "archs"),
    ("driver_cuda", ["500", "11.5", "11.5", "-", "-", "s"], "out of order"),
])
def test_a_bad_row_is_named_with_its_line(folder, capsys, table, row, words):
    add(folder, table, row)
    assert run(folder) == 1
    assert words in capsys.readouterr().err


def test_missing_table(folder, capsys):
    (folder / "xid.tsv").unlink()
    assert run(folder) == 1
    assert "no such table" in capsys.readouterr().err


def test_the_source_holds_every_row(folder):
    out = folder / "knowledge.gen.cc"
    assert run(folder, "--out", out) == 0
    text = out.read_text(encoding="utf-8")
    for name in gen_knowledge.TABLES:
        for row in gen_knowledge.load(folder, name, [])[1]:
            assert row["source"].split(",", maxsplit=1)[0] in text
    assert '{525, "12.0", "12.0", "525.60.13", "527.41"' in text
