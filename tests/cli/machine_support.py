# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Runs gpuwhy on a faked machine: a folder in place of the file system and a fake NVML library."""
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("GPUWHY_BIN", ROOT / "build" / "gpuwhy")).resolve()
SCHEMA = ROOT / "docs" / "schema" / "gpuwhy.report-1.schema.json"
ROOTS = ROOT / "tests" / "fakes" / "roots"
READINGS = ROOT / "tests" / "fakes" / "nvml"


def fake_library(name="libnvidia-ml-fake.so"):
    """A fake NVML library that CMake built: GPUWHY_FAKES, else the folders of the presets."""
    folders = [os.environ.get("GPUWHY_FAKES", ""), *(ROOT / "build" / preset / "fakes" for preset in ("asan", "dev", "release", "tsan"))]
    for folder in folders:
        path = pathlib.Path(folder) / name
        if str(folder) and path.is_file():
            return path
    return pytest.skip(f"SKIPPED: no {name} in build/*/fakes (build with GPUWHY_TESTS=ON, or set GPUWHY_FAKES)")


def machine(root, readings=None):
    """Environment of a faked machine. Without readings there is no NVML library on it."""
    environment = {"GPUWHY_ROOT": str(ROOTS / root)}
    if readings is not None:
        environment["GPUWHY_NVML"] = str(fake_library())
        environment["GPUWHY_FAKE_NVML"] = str(READINGS / readings) if isinstance(readings, str) else str(readings)
    # A fake of the address sanitizer's build needs its run-time library first.
    if "asan" in environment.get("GPUWHY_NVML", ""):
        runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False).stdout.strip()
        if "asan" not in subprocess.run(["ldd", str(BINARY)], capture_output=True, text=True, check=False).stdout:
            environment["LD_PRELOAD"] = runtime
            environment["ASAN_OPTIONS"] = "detect_leaks=0"
    return environment


def gpuwhy(*arguments, environment=None, **options):
    """Runs the program in a plain locale, without what may steer CUDA here; `environment` is added."""
    hidden = ("LC_", "LANG", "GPUWHY_", "NO_COLOR", "CUDA_", "NVIDIA_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(hidden)}
    env.update(environment or {})
    options = {"capture_output": True, "timeout": 120, "check": False, "text": True, **options}
    return subprocess.run([str(BINARY), *map(str, arguments)], env=env, **options)


def valid(text):
    """A JSON report that matches the published schema."""
    document = json.loads(text)
    jsonschema = pytest.importorskip("jsonschema", reason="SKIPPED: python3-jsonschema is not installed: no schema check")
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(document)
    return document


def causes(document):
    return [finding["cause"] for finding in document["findings"]]


def one_line(text):
    """Text as a reader takes it in: line breaks of the layout are blanks."""
    return re.sub(r"\s+", " ", text)
