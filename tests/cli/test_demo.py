# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""gpuwhy demo: replays what was built in, and says so when nothing was."""
import json
import re

import pytest

from machine_support import BINARY, ROOT, gpuwhy

if not BINARY.exists():
    pytest.skip(f"SKIPPED: {BINARY} is not built (make build, or set GPUWHY_BIN)", allow_module_level=True)

SESSIONS = sorted((ROOT / "docs" / "demo").glob("*.gpuwhy"))


def test_without_sessions():
    result = gpuwhy("demo")
    if result.returncode == 0:
        pytest.skip("SKIPPED: this build has recorded sessions")
    assert result.returncode == 2 and not result.stdout
    assert "built without recorded sessions" in result.stderr and result.stderr.count("\n") == 1
    assert not SESSIONS, "docs/demo has sessions, but the program was built without them"


def test_with_sessions():
    if not SESSIONS:
        pytest.skip("SKIPPED: docs/demo has no recorded session")
    result = gpuwhy("demo", environment={"GPUWHY_NVML": "/no/such/library"})
    assert result.returncode == 0, result.stderr
    for path in SESSIONS:
        assert path.stem in result.stdout
        # What the demo shows is what explain shows of the same file.
        assert gpuwhy("explain", path).stdout.strip() in result.stdout
    if len(SESSIONS) >= 2:
        assert "images a second" in result.stdout and re.search(r"\d+(\.\d)? times as many", result.stdout)
    assert "{{" not in gpuwhy("demo", "--lang", "zh").stdout


def test_json_is_a_sequence_of_reports():
    if not SESSIONS:
        pytest.skip("SKIPPED: docs/demo has no recorded session")
    text, decoder, count = gpuwhy("demo", "--json").stdout.strip(), json.JSONDecoder(), 0
    while text:
        document, end = decoder.raw_decode(text)
        assert document["schema"] == "gpuwhy.report/1"
        text, count = text[end:].lstrip(), count + 1
    assert count == len(SESSIONS)
