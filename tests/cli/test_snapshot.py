# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Plain `gpuwhy` on faked machines: what it shows, what it must not claim, and that it starts nothing."""

import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

from machine_support import BINARY, READINGS, causes, fake_library, gpuwhy, machine, one_line, valid

if not BINARY.exists():
    pytest.skip(f"SKIPPED: {BINARY} is not built (make build, or set GPUWHY_BIN)", allow_module_level=True)


def readings(tmp_path, source, *changes):
    """A copy of recorded readings with `key = value` lines replaced."""
    text = (READINGS / source).read_text(encoding="utf-8")
    for key, value in changes:
        text, count = re.subn(rf"(?m)^{re.escape(key)} = .*$", f"{key} = {value}", text)
        assert count, f"{source} has no {key}"
    path = tmp_path / "readings.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_working_process(tmp_path):
    mine = os.getpid()
    path = readings(
        tmp_path, "h200_busy.txt", ("compute", f"{mine}:7830765568"), ("process_utilization", f"100000:{mine}:56:31:0:0")
    )
    environment = machine("healthy_h200", path)
    result = gpuwhy(environment=environment)
    text = one_line(result.stdout)
    assert result.returncode == 0 and "1 GPU(s), driver 580.159.04, CUDA up to 13.0" in text and "NVIDIA H200" in text
    assert (
        "duty cycle: mean of 6 driver samples over the last" in text
        and "of 140.4 GiB" in text
        and "of 700 W" in text
        and "P0" in text
    )
    row = next(line for line in result.stdout.splitlines() if f" {mine} " in line)
    name = pathlib.Path("/proc/self/comm").read_text(encoding="utf-8").strip()
    assert "56 %" in row and "7.3 GiB" in row
    assert name in row or "unknown" in row  # in a container the number alone proves nothing
    assert "Advice: GPU 0 was busy" in text
    document = valid(gpuwhy("--json", environment=environment).stdout)
    assert document["verdict"]["gpu_used"] == "yes" and document["verdict"]["confidence"] <= 0.8
    assert document["subject"]["gpus"][0]["utilization.samples.count"] == 6
    use = document["subject"]["gpu_processes"][0]
    assert use["pid"] == mine and use["gpu.sm.ratio"] == 0.56
    assert "gpu-contention" not in causes(document)


def test_one_plain_name_of_the_command():
    environment = machine("healthy_h200", "h200_idle.txt")
    plain = gpuwhy("--json", environment=environment).stdout
    assert (
        valid(plain)["subject"]["host"].keys()
        == valid(gpuwhy("snapshot", "--json", environment=environment).stdout)["subject"]["host"].keys()
    )


def test_an_idle_gpu():
    result = gpuwhy(environment=machine("healthy_h200", "h200_idle.txt"))
    text = one_line(result.stdout)
    assert result.returncode == 0 and "busy 0 % of the time" in text
    assert "no GPU did anything just now" in text and "gpuwhy run -- python train.py" in text
    document = valid(gpuwhy("--json", environment=machine("healthy_h200", "h200_idle.txt")).stdout)
    assert document["verdict"]["gpu_used"] == "unknown"


def test_memory_that_is_held_by_an_idle_process(tmp_path):
    path = readings(tmp_path, "h200_idle.txt", ("compute", "4194000:7830765568"), ("process_utilization", "!6"))
    environment = machine("healthy_h200", path)
    text = one_line(gpuwhy(environment=environment).stdout)
    assert "process 4194000 (?) holds 7.3 GiB and nothing ran on its GPU" in text
    document = valid(gpuwhy("--json", environment=environment).stdout)
    assert causes(document) == ["gpu-allocated-but-idle"] and document["findings"][0]["severity"] == "info"
    assert document["verdict"]["gpu_used"] == "unknown"


def test_no_gpu_and_no_driver():
    result = gpuwhy(environment=machine("no_gpu"))
    text = one_line(result.stdout)
    assert result.returncode == 1 and "gives no readings" in text and "gpuwhy doctor" in text
    document = valid(gpuwhy("--json", environment=machine("no_gpu")).stdout)
    assert document["verdict"]["gpu_used"] == "no" and document["verdict"]["cause"] == "no-gpu-present"
    assert not document["subject"]["gpus"]


@pytest.mark.parametrize("source", ["wddm.txt", "mig.txt", "unified_memory.txt", "old_driver.txt"])
def test_unknown_is_never_zero(source):
    environment = machine("healthy_h200", source)
    result = gpuwhy(environment=environment)
    assert result.returncode in (0, 1), result.stderr
    gpu = valid(gpuwhy("--json", environment=environment).stdout)["subject"]["gpus"][0]
    missing = [
        name
        for name in ("utilization.ratio", "memory.used.bytes", "power.watts", "temperature.celsius", "pstate", "clock.sm.hertz")
        if gpu[name] is None
    ]
    text = READINGS.joinpath(source).read_text(encoding="utf-8")
    if not re.search(r"(?m)^utilization = \d", text):
        assert "utilization.ratio" in missing and "duty cycle unknown" in one_line(result.stdout)
    if not re.search(r"(?m)^power = \d", text):
        assert "power.watts" in missing and " 0 W" not in result.stdout
    assert all(name in gpu["unknown"] for name in missing)


def test_a_lost_gpu_and_garbage_do_no_harm():
    for source in ("gpu_lost.txt", "garbage_utilization.txt", "many_processes.txt", "no_permission.txt", "no_gpu.txt"):
        result = gpuwhy("-v", environment=machine("healthy_h200", source))
        assert result.returncode in (0, 1) and result.stdout and "37100" not in result.stdout, source


def test_an_old_driver():
    environment = {**machine("healthy_h200", "old_driver.txt"), "GPUWHY_NVML": str(fake_library("libnvidia-ml-fake-old.so"))}
    assert gpuwhy("--json", environment=environment).returncode in (0, 1)


def test_it_starts_no_program_and_is_quick():
    strace = shutil.which("strace")
    environment = machine("healthy_h200", "h200_busy.txt")
    start = time.monotonic()
    assert gpuwhy(environment=environment).returncode == 0
    assert time.monotonic() - start < 2  # the bar of 25 ms is measured on a real machine; this only catches a sleep
    if strace is None:
        pytest.skip("SKIPPED: no strace here: that no program is started was not checked")
    trace = subprocess.run(
        [strace, "-f", "-e", "trace=execve,nanosleep,clock_nanosleep", str(BINARY)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "ptrace" in trace.stderr:
        pytest.skip("SKIPPED: tracing is not permitted here")
    assert trace.stderr.count("execve(") == 1 and "nanosleep(" not in trace.stderr


def test_time_on_stderr():
    result = gpuwhy("--time", environment=machine("healthy_h200", "h200_idle.txt"))
    assert re.fullmatch(r"gpuwhy: \d+\.\d ms\n", result.stderr)
    assert "looking" in gpuwhy("--time", "-v", environment=machine("healthy_h200", "h200_idle.txt")).stderr
    assert "ms" not in gpuwhy(environment=machine("healthy_h200", "h200_idle.txt")).stderr


def test_chinese():
    text = gpuwhy("--lang", "zh", environment=machine("healthy_h200", "h200_busy.txt")).stdout
    assert "占空比" in text and "建议" in text and "{{" not in text
