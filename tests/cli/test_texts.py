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
    chinese = run(gpuwhy_bin, *arguments, "--lang", "zh").stderr.decode()
    assert chinese.count("\n") == 1 and why not in chinese and advice not in chinese
    assert all(re.search(r"[\u4e00-\u9fff]", part) for part in chinese.split("；"))


def test_session_of_nothing_says_what_to_do(gpuwhy_bin):
    header = (TEXTS.parent / "fixtures" / "sessions" / "h200-sleep.gpuwhy").read_bytes().splitlines(keepends=True)[0]
    gaps = explain(gpuwhy_bin, header, "--lang", "en")["gaps"]
    assert [gap["fix"] for gap in gaps if "only its header" in gap["why"]] == ["gpuwhy run -- CMD"]


CHINESE = "我的显卡是 RTX 3090，报错如下：\nRuntimeError: No CUDA GPUs are available\n请问怎么办？驱动已经是最新的了\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-16", "gbk"])
def test_chinese_in_any_encoding(gpuwhy_bin, encoding):
    report = explain(gpuwhy_bin, CHINESE.encode(encoding), "--lang", "en")
    assert report["verdict"]["gpu_used"] == "no"
    assert any("GB18030" in gap["why"] for gap in report["gaps"]) == (encoding == "gbk")
    assert not any("left out" in gap["why"] for gap in report["gaps"])


def test_lines_in_gbk_among_lines_in_utf8(gpuwhy_bin):
    mixed = "提示：以下是报错\n".encode() + "'nvidia-smi' 不是内部或外部命令，也不是可运行的程序\n".encode("gbk")
    report = explain(gpuwhy_bin, mixed, "--lang", "en")
    assert report["verdict"]["cause"] == "nvidia-smi-not-found"
    assert [gap["why"][:9] for gap in report["gaps"] if "GB18030" in gap["why"]] == ["1 line(s)"]


@pytest.mark.parametrize("data", [
    "Fehler: kein Gerät gefunden für die größte Auflösung\n".encode("latin-1"),
    "학습이 느립니다. 어떻게 해야 하나요? 노트북에서 실행하고 있습니다.\n".encode("euc-kr"),
])
def test_other_encodings_are_not_taken_for_chinese(gpuwhy_bin, data):
    gaps = explain(gpuwhy_bin, b"RuntimeError: No CUDA GPUs are available\n" + data, "--lang", "en")["gaps"]
    assert any("left out" in gap["why"] for gap in gaps)
    assert not any("were read as" in gap["why"] for gap in gaps)


def test_comments_of_commands_are_translated(gpuwhy_bin):
    table = (CASES[0].parents[2] / "cases").glob("*")
    texts = [json.dumps(explain(gpuwhy_bin, (case / "input.txt").read_bytes(), "--lang", "zh")["verdict"]["next"], ensure_ascii=False)
             for case in sorted(table) if (case / "input.txt").exists()]
    comments = [text.split(" # ")[1] for text in texts if " # " in text]
    assert comments and all(not re.search(r"[A-Za-z]{4}", comment) for comment in comments)


@pytest.mark.parametrize("name", ["175-mps-op-fallback", "380-mps-out-of-memory", "381-mac-asks-for-cuda"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_commands_of_nvidia_for_a_mac(gpuwhy_bin, name, language):
    report = explain(gpuwhy_bin, (TEXTS / "own" / name / "input.txt").read_bytes(), "--lang", language)
    advice = [report["verdict"]["next"] or ""]
    for finding in report["findings"]:
        advice += [finding["next"] or ""] + [fix["code"] or "" for fix in finding["fixes"]]
        assert {fix["framework"] for fix in finding["fixes"]} <= {"any"}
    assert not [text for text in advice if re.search(r"nvidia|cuda|gpuwhy", text)]


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.parent.name}-{path.parent.name}")
def test_sentences_read_well(gpuwhy_bin, case):
    """No parameter that nobody knows in a sentence, a capital at its start, no blank between two Chinese characters."""
    data = (case.parent / "input.txt").read_bytes()
    for language in ("en", "zh"):
        report = explain(gpuwhy_bin, data, "--lang", language)
        for text in [report["verdict"]["summary"]] + [fix["do"] for finding in report["findings"] for fix in finding["fixes"]]:
            assert not re.search(r": unknown\b|driver unknown|：未知|驱动 未知|\{\{|@[a-z]+\.", text), text
            assert not re.search(r"\(the framework\)|(no GPU is used|没有使用 GPU).*\1", text), text
            assert language == "zh" or not re.match(r"[a-z]", text), text
            assert not re.search(r"[\u4e00-\u9fff] [\u4e00-\u9fff]", text), text
