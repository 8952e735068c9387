# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Every pasted text under tests/texts gets the answer that its case.json calls right (see tests/texts/README.md)."""
import json
import pathlib
import re
import subprocess

import pytest

TEXTS = pathlib.Path(__file__).resolve().parents[1] / "texts"
CASES = sorted(TEXTS.glob("*/*/case.json"))
MOST_QUOTED = 12  # more lines of the input are an echo, not an answer


def squeeze(text):
    return re.sub(r"\s+", "", text.lower())


def decode(data):
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", errors="replace")


def figures(texts, pasted):
    """Tokens with a digit, two characters or more, that also stand in the pasted text."""
    found = {token.strip(".,:;()'\"").lower() for text in texts for token in re.findall(r"[A-Za-z_./+-]*\d[\w.+-]*", text)}
    return {token for token in found if len(token) > 1 and token in squeeze(pasted)}


def explain(program, data, *flags):
    done = subprocess.run([program, "explain", "-", "--format", "json", *flags], input=data, capture_output=True, timeout=60, check=False)
    assert done.returncode in (0, 1), done.stderr.decode(errors="replace")
    return json.loads(done.stdout)


def test_there_are_cases():
    assert len(CASES) >= 63


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.parent.name}-{path.parent.name}")
def test_right_answer(gpuwhy_bin, case):
    expected = json.loads(case.read_text(encoding="utf-8"))["expected"]
    data = (case.parent / "input.txt").read_bytes()
    report = explain(gpuwhy_bin, data, "--lang", "en")
    verdict, findings = report["verdict"], report["findings"]
    assert verdict["gpu_used"] in [expected["gpu_used"], *expected.get("gpu_used_also_ok", [])]
    assert verdict["cause"] in [expected["cause_id"], *expected.get("cause_also_ok", [])]
    said = squeeze(json.dumps([verdict, findings[:2]], ensure_ascii=False))
    missing = sorted(token for token in figures(expected.get("must_mention", []), decode(data)) if token not in said)
    assert not missing
    assert sum(len(line) > 20 and line in said for line in map(squeeze, decode(data).splitlines())) <= MOST_QUOTED
    claimed = {finding["cause"] for finding in findings if finding["severity"] != "info"}
    assert not claimed & set(expected.get("forbidden_causes", []))
    if verdict["cause"] == "insufficient-evidence":
        assert verdict["next"]


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.parent.name}-{path.parent.name}")
def test_chinese_answer_is_the_same_and_in_chinese(gpuwhy_bin, case):
    data = (case.parent / "input.txt").read_bytes()
    english, chinese = explain(gpuwhy_bin, data, "--lang", "en"), explain(gpuwhy_bin, data, "--lang", "zh")
    for key in ("gpu_used", "cause", "confidence"):
        assert chinese["verdict"][key] == english["verdict"][key]
    assert re.search(r"[\u4e00-\u9fff]", chinese["verdict"]["summary"])
    for gap in chinese["gaps"]:
        assert re.search(r"[\u4e00-\u9fff]", gap["what"]), gap


def run(program, *arguments, data=b""):
    return subprocess.run([program, "explain", *arguments], input=data, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize(("arguments", "why", "advice"), [
    (["/does/not/exist"], "No such file", "check the path"),
    (["/"], "Is a directory", "files in it"),
    (["-", "-"], "only once", "give '-' once"),
    (["-"], "it is empty", "give the text"),
])
def test_what_cannot_be_read_is_one_line_with_advice(gpuwhy_bin, arguments, why, advice):
    done = run(gpuwhy_bin, *arguments)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.count(b"\n") == 1
    assert why in done.stderr.decode() and advice in done.stderr.decode()


CHINESE = "我的显卡是 RTX 3090，报错如下：\nRuntimeError: No CUDA GPUs are available\n请问怎么办？驱动已经是最新的了\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-16", "gbk"])
def test_chinese_in_any_encoding(gpuwhy_bin, encoding):
    report = explain(gpuwhy_bin, CHINESE.encode(encoding))
    assert report["verdict"]["gpu_used"] == "no"
    fixes = [gap["fix"] for gap in report["gaps"]]
    assert any("iconv -f GB18030" in fix for fix in fixes) == (encoding == "gbk")


def test_comments_of_commands_are_translated(gpuwhy_bin):
    table = (CASES[0].parents[2] / "cases").glob("*")
    texts = [json.dumps(explain(gpuwhy_bin, (case / "input.txt").read_bytes(), "--lang", "zh")["verdict"]["next"], ensure_ascii=False)
             for case in sorted(table) if (case / "input.txt").exists()]
    comments = [text.split(" # ")[1] for text in texts if " # " in text]
    assert comments and all(not re.search(r"[A-Za-z]{4}", comment) for comment in comments)
