# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""The checks of layers, rules, sizes and Python 3.6: each planted fault is found, a clean tree passes."""
import pathlib
import shutil
import subprocess

import check_layers
import check_py36
import check_rules
import check_sizes
import new_rule
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = """#include "engine/rule.h"
namespace gpuwhy::rules {
int Check() { finding.Param("wait_share", "1"); return CannotTell({"x"}); }
extern constinit const Rule kRule_small_batch{.id = "GW602", .name = "small-batch", .since = "0.1", .check = &Check};
}
"""
TEXT = "### title\nT\n### summary\n{{wait_share}} lost\n### about\nA\n"
PAGE = f"# GW602 small-batch\n## en\n{TEXT}## zh\n{TEXT}"
CASE = "# comment\n--- fires: a\nfact x 1\n--- clear: b\nfact x 2\n--- cannot-tell: c\n"
FILES = {
    "source": "src/rules/small_batch.cc",
    "page": "docs/rules/GW602-small-batch.md",
    "case": "tests/rules/small_batch.case",
}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def tree(tmp_path):
    for key, text in (("source", SOURCE), ("page", PAGE), ("case", CASE)):
        write(tmp_path / FILES[key], text)
    return tmp_path


def test_layers_find_each_planted_violation():
    assert check_layers.self_test() == []


def test_layers_self_test_notices_a_blind_checker(monkeypatch):
    monkeypatch.setattr(check_layers, "project_fault", lambda *arguments: None)
    assert any("src/base/clock.h" in failure for failure in check_layers.self_test())


def test_a_complete_rule_passes(tree):
    rules, faults = check_rules.check(tree)
    assert ([rule.id for rule in rules], faults) == (["GW602"], [])


@pytest.mark.parametrize("key, old, new, message", [
    ("source", "kRule_small_batch", "kRule_small", "its file asks for kRule_small_batch"),
    ("source", '"small-batch"', '"tiny-batch"', "name 'tiny-batch' differs"),
    ("source", '"GW602"', '"GW62"', "not of the form GWnnn"),
    ("source", "extern constinit const Rule", "const Rule", "expected exactly one"),
    ("source", '.since = "0.1", ', "", "has no .since"),
    ("source", "wait_share", "share", 'no Param("wait_share", ...)'),
    ("page", "## zh", "## cn", "'## en' and then '## zh'"),
    ("page", "\nA\n## zh", "\nFILL" "-IN\n## zh", "still the skeleton"),
    ("case", "--- cannot-tell: c\n", "", "no '--- cannot-tell:' block"),
    ("case", "--- clear: b\n", "--- fires: b\n", "2 firing and 1 silent"),
    ("case", "--- clear: b", "--- clear: a", "appears twice"),
    ("case", "fact x 1\n", "", "a firing block without evidence"),
    ("case", "--- clear", "--- silent", "expected '--- fires|clear|cannot-tell"),
    ("case", "# comment", "fact early 1", "a line before the first block"),
])
def test_a_fault_of_a_rule_is_found(tree, key, old, new, message):
    path = tree / FILES[key]
    text = path.read_text(encoding="utf-8")
    assert old in text
    write(path, text.replace(old, new, 1))
    assert any(message in fault for fault in check_rules.check(tree)[1])


def test_missing_files_orphans_and_double_ids_are_found(tree):
    shutil.move(tree / FILES["page"], tree / "docs/rules/GW603-other.md")
    write(tree / "tests/rules/other.case", CASE)
    write(tree / "src/rules/twin.cc", SOURCE.replace("small_batch", "twin").replace("small-batch", "twin"))
    faults = check_rules.check(tree)[1]
    for message in ("GW602-small-batch.md is missing", "docs/rules/GW603-other.md:1: belongs to no rule",
                    "tests/rules/other.case:1: belongs to no rule", "GW602 is already the id of small_batch.cc",
                    "tests/rules/twin.case is missing"):
        assert any(message in fault for fault in faults), message


def test_new_rule_takes_the_next_id_and_is_refused_until_written(tree, capsys):
    assert new_rule.main(["slow-start", "--family", "6", "--root", str(tree)]) == 0
    assert "docs/rules/GW603-slow-start.md" in capsys.readouterr().out
    rules, faults = check_rules.check(tree)
    assert {rule.id for rule in rules} == {"GW602", "GW603"}
    for path in ("src/rules/slow_start.cc", "docs/rules/GW603-slow-start.md", "tests/rules/slow_start.case"):
        assert any(path in fault and "still the skeleton" in fault for fault in faults), path
    with pytest.raises(SystemExit):
        new_rule.main(["slow-start", "--family", "6", "--root", str(tree)])
    with pytest.raises(SystemExit):
        new_rule.main(["Slow_Start", "--family", "6", "--root", str(tree)])


def test_new_rule_never_reuses_a_removed_id(tree):
    git = ["git", "-C", str(tree), "-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    write(tree / "docs/rules/GW609-gone.md", "x")
    subprocess.run([*git, "add", "docs"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "a"], check=True)
    (tree / "docs/rules/GW609-gone.md").unlink()
    assert new_rule.next_id(tree, 6) == "GW610"
    assert new_rule.next_id(tree, 0) == "GW001"


def test_new_rule_source_compiles(tmp_path):
    if not (ROOT / "src/engine/rule.h").is_file() or not shutil.which("g++"):
        pytest.skip("needs g++ and src/engine/rule.h")
    source = next(text for path, text in new_rule.files(tmp_path, "slow-start", "GW603", "0.1").items() if path.suffix == ".cc")
    write(tmp_path / "slow_start.cc", source)
    subprocess.run(["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'src'}",
                    str(tmp_path / "slow_start.cc")], check=True)


def lengths(source):
    return [None if last is None else last - first + 1 for first, last in check_sizes.cpp_functions(source)]


@pytest.mark.parametrize("source, expected", [
    ("int F() {\n  if (x) {\n  }\n}\n", [4]),
    ("namespace a {\nclass B : C {\n public:\n  B() : x_{1}, y_(2) {\n  }\n  int G() const { return 1; }\n};\n}\n", [2, 1]),
    ("constexpr int kX[] = {\n1,\n2};\nconst Foo kY = Make({\n1});\nenum class E { kA };\n", []),
    ("template <typename T, typename = X<Y<T>>>\nclass A {\n void F();\n};\nvoid A::F()\n{\n}\n", [3]),
    ('// }\nauto s = R"x(}}\n{)x";\nchar c = \'{\';\nTEST(A, B) {\n const char* t = "}";\n}\n', [3]),
    ("#define X {\n#if 1\nint F() {\n}\n#endif\nint n = 1\'000;\nint G() { return 2; }\n", [2, 1]),
    ('extern "C" {\nint F(void) {\n}\n}\nstruct S { int a{0}; std::function<void()> f = [] { g(); }; };\n', [2, 1]),
    ("int F() {\n", [None]),
])
def test_functions_of_cpp_are_measured(source, expected):
    assert lengths(source) == expected


def test_size_limits(tmp_path, capsys):
    write(tmp_path / "a.cc", "int F() {\n" + "  G();\n" * 39 + "}\n")
    write(tmp_path / "b.py", "def f():\n" + "    g()\n" * 40)
    write(tmp_path / "c.sh", "x\n" * 401)
    write(tmp_path / "d.py", "#" * 141 + "\n")
    write(tmp_path / "fine.cc", "int F() {\n" + "  G();\n" * 38 + "}\n")
    names = ["a.cc", "b.py", "c.sh", "d.py", "fine.cc"]
    assert check_sizes.main(["--root", str(tmp_path), *names]) == 1
    faults = capsys.readouterr().err.splitlines()
    assert [fault.split(":")[0] for fault in faults] == ["a.cc", "b.py", "c.sh", "d.py"]
    assert check_sizes.main(["--root", str(tmp_path), "fine.cc"]) == 0


@pytest.mark.parametrize("source, good", [
    ("x: int = 1\nprint(f'{x}')\n", True),
    ("if (x := 1):\n    pass\n", False),
    ("def f(a, /):\n    pass\n", False),
    ("from __future__ import annotations\n", False),
])
def test_python36_grammar(tmp_path, source, good):
    write(tmp_path / "a.py", source)
    assert (check_py36.check_grammar(str(tmp_path / "a.py")) is None) == good
