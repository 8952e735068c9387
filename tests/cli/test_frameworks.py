# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Real training jobs under `gpuwhy run` on a machine without a GPU, and again where a healthy GPU is faked around them."""
import functools
import json
import os
import pathlib
import signal
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from machine_support import BINARY, causes, gpuwhy, machine, valid  # noqa: E402
from transparency.terminal import Terminal  # noqa: E402

JOBS = pathlib.Path(__file__).parent / "jobs"
NVIDIA = "0x10de"
# Job: interpreter's fixture, script, cause without a GPU, cause beside a healthy one.
CASES = {
    "debian-torch": ("debian_torch_python", "train_torch.py", "cpu-only-framework-build"),
    "cuda-torch": ("venv_python", "train_torch.py", "driver-missing"),
    "keras": ("venv_python", "train_keras.py", "cuda-libs-missing"),
}


def has_gpu():
    return any(path.read_text().strip() == NVIDIA for path in pathlib.Path("/sys/bus/pci/devices").glob("*/vendor"))


def job(python, script, seconds=1, environment=None):
    """Command of a job. The sanitizer's library is for gpuwhy and the fake that it loads, not for the job."""
    clean = ["env", "-u", "LD_PRELOAD", "-u", "ASAN_OPTIONS"] if "LD_PRELOAD" in (environment or {}) else []
    return [*clean, python, JOBS / script, str(seconds)]


class Watched:
    """One job that ran under gpuwhy, with its report and its session."""

    def __init__(self, folder, python, script, environment):
        self.session, self.output = folder / "job.gpuwhy", folder / "report.json"
        self.result = gpuwhy("run", "--session", self.session, "--json", "-q", "-o", self.output, "--",
                             *job(python, script, environment=environment), environment=environment)
        assert self.result.returncode == 0, self.result.stderr
        self.text = self.output.read_text(encoding="utf-8")
        self.report = valid(self.text)

    def witness(self, name):
        return next(witness for witness in self.report["witnesses"] if witness["name"] == name)

    def framework(self, name):
        return next(entry for entry in self.report["subject"]["frameworks"] if entry["name"] == name)


@pytest.fixture(name="watch", scope="module")
def fixture_watch(request, tmp_path_factory):
    """Runs a case on the machine as it is, or on the faked one; each once."""

    @functools.lru_cache(maxsize=None)
    def watch(case, faked):
        fixture, script, _ = CASES[case]
        if not faked and has_gpu():
            pytest.skip("this machine has an NVIDIA device: what a job is told without one cannot be tested here")
        environment = machine("healthy_h200", "h200_idle.txt") if faked else None
        return Watched(tmp_path_factory.mktemp(case), request.getfixturevalue(fixture), script, environment)

    return watch


def check_not_used(watched, script):
    """What holds for every one of these jobs: nothing of it ran on a GPU, and it trained."""
    verdict = watched.report["verdict"]
    # What the linker does not find and what TensorFlow does not see are two witnesses, no statement of the system itself.
    least = 0.8 if verdict["cause"] == "cuda-libs-missing" else 0.9
    assert verdict["gpu_used"] == "no" and verdict["confidence"] >= least
    assert verdict["cause"] == causes(watched.report)[0]
    assert watched.result.stdout.endswith("trained\n") and "gpuwhy" not in watched.result.stderr
    assert watched.framework("steps")["count"] >= 50
    for name in ("framework", "os"):
        assert watched.witness(name)["gpu_used"] == "no" and watched.witness(name)["state"] == "ok"
    assert watched.framework("tensorflow" if "keras" in script else "torch")["version"] in watched.witness("framework")["says"]


@pytest.mark.parametrize("case", CASES)
def test_without_a_gpu_its_absence_comes_first(watch, case):
    watched = watch(case, False)
    check_not_used(watched, CASES[case][1])
    assert watched.report["verdict"]["cause"] == "no-gpu-present"
    assert watched.report["subject"]["host"]["gpu.pci.count"] == 0
    assert ("cpu-only-framework-build" in causes(watched.report)) == (case == "debian-torch")
    if case == "debian-torch":
        assert causes(watched.report)[1] == "cpu-only-framework-build"


@pytest.mark.parametrize("case", CASES)
def test_beside_a_healthy_gpu_the_cause_is_what_the_job_lacks(watch, case):
    watched = watch(case, True)
    _, script, cause = CASES[case]
    check_not_used(watched, script)
    assert causes(watched.report) == [cause]
    assert [gpu["name"] for gpu in watched.report["subject"]["gpus"]] == ["NVIDIA H200"]
    for name in ("driver", "device"):  # they answer here, and see nobody at work
        assert watched.witness(name)["gpu_used"] == "no" and watched.witness(name)["state"] == "ok"


@pytest.mark.parametrize("faked", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_a_session_says_the_same_as_the_run(watch, case, faked):
    watched = watch(case, faked)
    assert gpuwhy("explain", watched.session, "--json").stdout == watched.text
    assert gpuwhy("report", watched.session, "--format", "json").stdout == watched.text
    text = gpuwhy("explain", watched.session)
    assert text.returncode == 1 and text.stdout == gpuwhy("report", watched.session, "--format=text").stdout
    assert "NO: this job does not use the GPU" in text.stdout and watched.report["verdict"]["cause"] in text.stdout
    for line in watched.session.read_text(encoding="utf-8").splitlines():
        json.loads(line)


@pytest.mark.parametrize("faked", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_every_text_is_complete_in_both_languages(watch, case, faked):
    watched = watch(case, faked)
    english, chinese = (gpuwhy("explain", watched.session, "-v", "--lang", language).stdout for language in ("en", "zh"))
    for text in (english, chinese):
        assert "{{" not in text and "}}" not in text  # a placeholder that nobody filled
        assert watched.report["verdict"]["cause"] in text
    assert english != chinese
    for finding in watched.report["findings"]:
        assert finding["fixes"] and all(fix["do"] for fix in finding["fixes"]) and finding["evidence"]


def test_the_report_as_text_is_the_replayed_one(debian_torch_python, tmp_path):
    session, output = tmp_path / "job.gpuwhy", tmp_path / "report.txt"
    result = gpuwhy("run", "--session", session, "-q", "-o", output, "--", *job(debian_torch_python, "train_torch.py"))
    assert (result.returncode, result.stderr) == (0, "")
    assert output.read_text(encoding="utf-8") == gpuwhy("explain", session).stdout


def test_watching_may_end_before_the_job(debian_torch_python, tmp_path):
    output = tmp_path / "report.json"
    result = gpuwhy("run", "--for", "2", "--session", tmp_path / "s", "--json", "-o", output, "--",
                    *job(debian_torch_python, "train_torch.py", 4))
    assert (result.returncode, result.stderr) == (0, "") and result.stdout.endswith("trained\n")
    host = valid(output.read_text(encoding="utf-8"))["subject"]["host"]
    assert host["job.unwatched.seconds"] > 1 and host["job.wall.seconds"] < 4
    assert output.read_text(encoding="utf-8") == gpuwhy("explain", tmp_path / "s", "--json").stdout


def test_a_job_that_does_not_use_the_gpu_can_be_ended(debian_torch_python, tmp_path):
    begin = time.monotonic()
    result = gpuwhy("run", "--stop-on", "not-used", "--session", tmp_path / "s", "--json", "-q", "-o", tmp_path / "r", "--",
                    *job(debian_torch_python, "train_torch.py", 90))
    assert result.returncode == 3 and "trained" not in result.stdout and time.monotonic() - begin < 60
    report = valid((tmp_path / "r").read_text(encoding="utf-8"))
    assert report["verdict"]["gpu_used"] == "no" and report["subject"]["host"]["job.signal"] == signal.SIGTERM


@pytest.mark.parametrize("code, status", [(0, 3), (7, 7)])
def test_a_job_that_does_not_use_the_gpu_can_fail_the_run(debian_torch_python, tmp_path, code, status):
    line = f"'{debian_torch_python}' '{JOBS / 'train_torch.py'}' 0; exit {code}"
    for flag in ("not-used", "error"):
        result = gpuwhy("run", "--fail-on", flag, "--session", tmp_path / "s", "-q", "--", "sh", "-c", line)
        assert (result.returncode, result.stderr) == (status, "")


WARNING = b"gpuwhy: this job does not use the GPU: "


@pytest.mark.parametrize("flags, warned", [([], True), (["-q"], False)])
def test_one_early_line_on_a_terminal(debian_torch_python, tmp_path, flags, warned):
    words = [BINARY.absolute(), "run", "--session", tmp_path / "s", "-o", tmp_path / "r", *flags, "--",
             *job(debian_torch_python, "train_torch.py", 8)]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "GPUWHY_", "CUDA_"))}
    with Terminal([str(word) for word in words], environment) as terminal:
        terminal.expect(b"first step", 60)
        if warned:
            terminal.expect(WARNING, 10)
        terminal.expect(b"trained", 60)
        assert terminal.status() == 0
    assert terminal.text.count(b"gpuwhy") == (2 if warned else 0)  # the line names the command with the fix
    assert terminal.text.count(WARNING) == (1 if warned else 0)


def test_no_early_line_in_a_pipe(debian_torch_python, tmp_path):
    result = gpuwhy("run", "--session", tmp_path / "s", "-o", tmp_path / "r", "--", *job(debian_torch_python, "train_torch.py", 5))
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("flags", [["--json"], []])
def test_the_report_follows_the_job_on_stderr(tmp_path, flags):
    result = gpuwhy("run", "--session", tmp_path / "s", *flags, "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (result.returncode, result.stdout) == (7, "out\n") and result.stderr.startswith("err\n")
    report = result.stderr[len("err\n"):]
    assert report == gpuwhy("explain", tmp_path / "s", *flags).stdout
    assert valid(report)["verdict"]["gpu_used"] == "unknown" if flags else "CANNOT TELL" in report


def test_quiet_without_a_file_writes_nothing(tmp_path):
    result = gpuwhy("run", "-q", "--session", tmp_path / "s", "--", "sh", "-c", "exit 7")
    assert (result.returncode, result.stdout, result.stderr) == (7, "", "")


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_a_killed_job_leaves_a_whole_report(tmp_path, number):
    result = gpuwhy("run", "-q", "--json", "-o", tmp_path / "r", "--session", tmp_path / "s", "--",
                    "sh", "-c", f"ulimit -c 0; kill -{number.value} $$")
    assert result.returncode == -number
    report = valid((tmp_path / "r").read_text(encoding="utf-8"))
    assert report["subject"]["host"]["job.signal"] == number
    assert (tmp_path / "r").read_text(encoding="utf-8") == gpuwhy("explain", tmp_path / "s", "--json").stdout
