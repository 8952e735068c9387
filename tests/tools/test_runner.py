# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""The test runner's sums and the setup's refusals: what could not run is never counted as passed."""
import os
import pathlib
import shutil
import subprocess

import pytest
import test_summary

ROOT = pathlib.Path(__file__).resolve().parents[2]
CTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="5" failures="1" disabled="1" skipped="1">
 <testcase name="A.Good" classname="A.Good" time="0" status="run"><system-out>fine</system-out></testcase>
 <testcase name="A.Bad" classname="A.Bad" time="0" status="fail"><failure message="boom"/></testcase>
 <testcase name="A.Skip" classname="A.Skip" time="0" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
  <system-out>x.cc:3: Skipped
no device here

[  SKIPPED ] A.Skip</system-out></testcase>
 <testcase name="A.Gone" classname="A.Gone" status="notrun"><skipped message="Unable to find executable"/></testcase>
 <testcase name="A.Off" classname="A.Off" status="disabled"><skipped message="Disabled"/></testcase>
</testsuite>"""
PYTEST = """<testsuites><testsuite name="pytest">
 <testcase classname="tests.a" name="test_good"/><testcase classname="tests.a" name="test_error"><error message="e"/></testcase>
 <testcase classname="tests.a" name="test_skip"><skipped type="pytest.skip" message="no network"/></testcase>
</testsuite></testsuites>"""


def test_reports_of_both_kinds_are_summed(tmp_path, capsys):
    (tmp_path / "ctest-asan.xml").write_text(CTEST, encoding="utf-8")
    (tmp_path / "pytest-system.xml").write_text(PYTEST, encoding="utf-8")
    assert test_summary.main([str(tmp_path), "--broken=release build"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "2 passed, 4 failed, 3 skipped"
    assert "SKIPPED ctest-asan: A.Skip: no device here" in lines
    assert "SKIPPED pytest-system: tests.a.test_skip: no network" in lines
    assert "FAILED step: release build: see its output above" in lines


@pytest.mark.parametrize("report, last", [
    (PYTEST.replace("<error message=\"e\"/>", ""), "2 passed, 0 failed, 1 skipped"),
    ("<testsuites", "0 passed, 1 failed, 0 skipped"),
    ("<testsuites/>", "0 passed, 0 failed, 0 skipped"),
])
def test_only_passed_tests_make_success(tmp_path, capsys, report, last):
    (tmp_path / "a.xml").write_text(report, encoding="utf-8")
    assert test_summary.main([str(tmp_path)]) == (0 if last.startswith("2") else 1)
    assert capsys.readouterr().out.splitlines()[-1] == last


@pytest.fixture
def checkout(tmp_path):
    """A tree with the setup script, a machine that claims to have every package, and a chosen free disk space."""
    for name in ("tools/setup.sh", "tests/requirements.txt"):
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "tree" / name)
    fake = tmp_path / "bin"
    fake.mkdir()
    program(fake / "dpkg-query", 'shift 3; for name; do echo "installed $name"; done')
    return tmp_path


def program(path, text):
    path.write_text("#!/bin/bash\n" + text + "\n", encoding="utf-8")
    path.chmod(0o755)


def run_setup(checkout, *arguments, free_kb, **extra):
    program(checkout / "bin" / "df", f"echo Avail; echo {free_kb}")
    environment = dict(os.environ, PATH=f"{checkout / 'bin'}:/usr/bin:/bin", GPUWHY_CACHE=str(checkout / "cache"), **extra)
    return subprocess.run([str(checkout / "tree/tools/setup.sh"), *arguments], env=environment, capture_output=True,
                          text=True, check=False, timeout=120)


def test_setup_skips_loudly_without_disk_room(checkout):
    done = run_setup(checkout, "--frameworks", free_kb=3_000_000)
    assert done.returncode == 0
    assert "FRAMEWORK TESTS WILL BE SKIPPED: 3 GB free" in done.stderr
    state = (checkout / "tree/.setup-state").read_text(encoding="utf-8")
    assert state.startswith("frameworks=skipped\nreason=3 GB free")
    assert not os.path.lexists(checkout / "tree/.venv")


def test_setup_skips_loudly_without_network_and_leaves_nothing_half_done(checkout):
    # Port 9 of this machine answers nobody: the package index cannot be reached.
    done = run_setup(checkout, "--frameworks", free_kb=90_000_000, PIP_INDEX_URL="http://127.0.0.1:9/simple",
                     PIP_CONFIG_FILE="/dev/null", PIP_RETRIES="0")
    assert done.returncode == 0
    assert "FRAMEWORK TESTS WILL BE SKIPPED: pip failed" in done.stderr
    assert "frameworks=skipped" in (checkout / "tree/.setup-state").read_text(encoding="utf-8")
    assert [path.name for path in (checkout / "cache").iterdir() if path.is_dir()] == []


def test_setup_makes_a_broken_environment_again_and_reuses_a_complete_one(checkout):
    run_setup(checkout, "--frameworks", free_kb=1)
    venv = next((checkout / "cache").glob("*.lock")).with_suffix("")
    (venv / "lib").mkdir(parents=True)
    assert "SKIPPED" in run_setup(checkout, "--frameworks", free_kb=1).stderr
    (venv / "complete").touch()
    assert run_setup(checkout, "--frameworks", free_kb=1).stderr == ""
    assert os.readlink(checkout / "tree/.venv") == str(venv)
    assert "frameworks=ok" in (checkout / "tree/.setup-state").read_text(encoding="utf-8")


def test_setup_refuses_unknown_arguments(checkout):
    done = run_setup(checkout, "--everything", free_kb=1)
    assert done.returncode == 2 and "unknown argument '--everything'" in done.stderr
