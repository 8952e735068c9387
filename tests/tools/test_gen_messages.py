# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of messages: good rows become pieces, bad rows are refused with file and line."""
import pathlib

import gen_messages
import pytest

HEAD = "# a comment\n\nid\trung\ttemplate\tfacts\tsource\n"
CATALOGUE = pathlib.Path(__file__).resolve().parents[2] / "knowledge" / "messages"


def run(tmp_path, capsys, rows, head=HEAD):
    """(exit status, stderr, generated text)"""
    table = tmp_path / "x.tsv"
    table.write_text(head + rows, encoding="utf-8")
    out = tmp_path / "out.cc"
    status = gen_messages.main(["--out", str(out), str(table)])
    return status, capsys.readouterr().err.replace(str(table), "x.tsv"), out.read_text() if out.exists() else ""


def test_a_template_becomes_literals_and_captures():
    pieces = gen_messages.parse_template("version \t is:  {a:v}, {b} of {{x}}")
    assert pieces == [("version is: ", "a", "kVersion"), (", ", "b", "kText"), (" of {x}", "", "kNone")]


def test_facts_of_all_kinds():
    text = 'framework.x=true ; a.b={n} ; gpu.{n}.name="x; {n}" ; a.c=-3 ; a.d=[{n}] ; process.env.CUDA_X="1"'
    facts = gen_messages.parse_facts(text, {"n"})
    assert facts == [("framework.x", "kBool", "true"), ("a.b", "kInteger", "{n}"), ("gpu.{n}.name", "kText", "x; {n}"),
                     ("a.c", "kInteger", "-3"),
                     ("a.d", "kList", "{n}"), ("process.env.CUDA_X", "kText", "1")]


def test_good_rows_are_sorted_and_carry_their_rarest_gram(tmp_path, capsys):
    status, err, text = run(tmp_path, capsys, "b\tcuda\tfailed here\t\tdoc\na/old\tos\tfailed there {x:w}\t\tdoc\n")
    assert (status, err) == (0, "")
    assert text.index('{"a", Source::kOs') < text.index('{"b", Source::kCuda')
    assert '"fail"' not in text.split("kMessages")[1]  # both hold it


@pytest.mark.parametrize("rows, expected", [
    ("a\tos\ttemplate\t\tdoc\na\tos\tanother\t\tdoc\n", "x.tsv:5: the id a is taken by x.tsv:4"),
    ("a/b\tos\ttemplate\t\tdoc\na/c\tcuda\tanother\t\tdoc\n", "x.tsv:5: the rung of a/c differs from that of a/b"),
    ("a\tnowhere\ttemplate\t\tdoc\n", "x.tsv:4: unknown rung 'nowhere'"),
    ("a\tos\ttemplate\t\t\n", "x.tsv:4: empty source"),
    ("a\tos\ttemplate\t\n", "x.tsv:4: 4 columns instead of 5"),
    ("A-b\tos\ttemplate\t\tdoc\n", "x.tsv:4: bad id 'A-b'"),
    ("a\tos\ta {b}{c} template\t\tdoc\n", "x.tsv:4: nothing stands between '{b}' and '{c}'"),
    ("a\tos\ta {b} and {b} template\t\tdoc\n", "x.tsv:4: two captures share a name"),
    ("a\tos\ta template { open\t\tdoc\n", "x.tsv:4: a single '{'"),
    ("a\tos\ta template {b:q}\t\tdoc\n", "x.tsv:4: bad capture '{b:q}'"),
    ("a\tos\t{b} = {c}\t\tdoc\n", "x.tsv:4: no literal of at least 4 bytes"),
    ("a\tos\ttemplate\tname\tdoc\n", "x.tsv:4: bad fact 'name'"),
    ("a\tos\ttemplate\tname=maybe\tdoc\n", "x.tsv:4: bad value of the fact name: maybe"),
    ("a\tos\ttemplate\tname={b}\tdoc\n", "x.tsv:4: the fact name uses {b}"),
    ("a\tos\t" + "x" * 401 + "\t\tdoc\n", "x.tsv:4: a template of 401 characters"),
])
def test_bad_rows_are_refused_with_their_place(tmp_path, capsys, rows, expected):
    status, err, text = run(tmp_path, capsys, rows)
    assert status == 1
    assert err.startswith(expected), err
    assert text == ""


def test_the_header_row_is_demanded(tmp_path, capsys):
    status, err, _ = run(tmp_path, capsys, "", head="id\ttemplate\n")
    assert status == 1 and err.startswith("x.tsv:1: the first row must name the columns")


def test_the_catalogue_of_the_project_is_sound():
    rows, faults = gen_messages.read(list(CATALOGUE.glob("*.tsv")))
    assert faults == []
    assert len(rows) > 100
