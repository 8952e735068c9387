# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""What all Python tests share: where the program and the interpreters with real frameworks are.

A test that needs a framework starts its job in another process, by `venv_python` or `debian_torch_python`.
Whatever is missing is a skip with its reason, never a pass.
"""
import os
import pathlib
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYSTEM_PYTHON = "/usr/bin/python3"


# A runner in the background or under nohup ignores these, and every job of the tests would inherit it.
for _number, _default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _default)


def setup_state():
    """What tools/setup.sh wrote about the framework environment."""
    path = ROOT / ".setup-state"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return dict(line.split("=", 1) for line in lines if "=" in line)


def skip_reason():
    """Why there is no .venv."""
    return setup_state().get("reason") or "no framework environment here; run: tools/setup.sh --frameworks"


@pytest.fixture(scope="session")
def root():
    """Folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def gpuwhy_bin():
    """Path of the program: GPUWHY_BIN, else build/gpuwhy. Its absence is a failure: nothing could be tested."""
    path = pathlib.Path(os.environ.get("GPUWHY_BIN", ROOT / "build" / "gpuwhy"))
    assert os.access(path, os.X_OK), f"{path} is missing; run: make build"
    return str(path)


@pytest.fixture(scope="session")
def venv_python():
    """Interpreter with the newest PyTorch, TensorFlow and JAX."""
    path = ROOT / ".venv" / "bin" / "python"
    if not os.access(path, os.X_OK):
        pytest.skip(skip_reason())
    return str(path)


@pytest.fixture(scope="session")
def debian_torch_python():
    """The system's interpreter with Debian's CPU-only PyTorch."""
    probe = subprocess.run([SYSTEM_PYTHON, "-c", "import torch"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        pytest.skip("Debian's python3-torch is not installed; run: tools/setup.sh --frameworks")
    return SYSTEM_PYTHON
