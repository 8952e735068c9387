# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the agent folder as the program would unpack it and runs real child interpreters in it.

Interpreters with frameworks: GPUWHY_TEST_PYTHONS (colon list), .venv*/ of the checkout, the project's cache, the system's python3.
Interpreters by version: pyenv's, where present. What is absent is skipped, with its name.
"""
import functools
import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import ring_reader

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build_agent(folder):
    """A complete agent folder: sources and the generated wire module."""
    shutil.copytree(ROOT / "agent", folder, ignore=shutil.ignore_patterns("__pycache__", "wire_gen.py", ".gitignore"))
    subprocess.run([sys.executable, ROOT / "tools" / "gen_wire.py", ROOT / "wire" / "schema.json", "--py",
                    folder / "gpuwhy_agent" / "wire_gen.py"], check=True)
    return folder


@functools.lru_cache(None)
def framework_python(module, newest=True):
    """An interpreter that can import the module, or None."""
    cache = os.environ.get("GPUWHY_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gpuwhy")
    candidates = [each for each in os.environ.get("GPUWHY_TEST_PYTHONS", "").split(":") if each]
    candidates += sorted(glob.glob(str(ROOT / ".venv*" / "bin" / "python")))
    candidates += sorted(glob.glob(os.path.join(cache, "venv*", "bin", "python")))
    candidates = candidates + ["/usr/bin/python3"] if newest else ["/usr/bin/python3"]
    code = "import importlib.util as u, sys; sys.exit(0 if u.find_spec(%r) else 1)" % module
    for candidate in candidates:
        if os.path.exists(candidate) and subprocess.run([candidate, "-c", code], stderr=subprocess.DEVNULL).returncode == 0:
            return candidate
    return None


def version_python(version):
    """pyenv's interpreter of a version such as "3.6", or the one on PATH, or None."""
    found = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/%s.*/bin/python" % version)))
    return found[-1] if found else shutil.which("python" + version)


def need_version(version):
    python = version_python(version)
    if python is None:
        pytest.skip("Python %s is not installed" % version)
    return python


def need_framework(module, newest=True):
    python = framework_python(module, newest)
    if python is None:
        pytest.skip("no interpreter with %s (tools/setup.sh --frameworks)" % module)
    return python


class Job:
    """Runs one Python program with or without the agent."""

    def __init__(self, agent, folder):
        self.agent = agent
        self.folder = folder
        self.spool = folder / "spool"
        self.spool.mkdir(mode=0o700)

    def environment(self, watched=True, **extra):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("GPUWHY_", "PYTHON", "CUDA_"))}
        environment["TF_CPP_MIN_LOG_LEVEL"] = "3"
        path = extra.pop("PYTHONPATH", "")
        if watched:
            environment["GPUWHY_SPOOL"] = str(self.spool)
            path = str(self.agent) + (":" + path if path else "")
        if path:
            environment["PYTHONPATH"] = path
        environment.update(extra)
        return environment

    def script(self, code):
        path = self.folder / "job.py"
        path.write_text(code)
        return str(path)

    def run(self, python, *arguments, watched=True, check=True, timeout=300, **extra):
        done = subprocess.run([python, *map(str, arguments)], env=self.environment(watched, **extra), cwd=self.folder, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if check:
            assert done.returncode == 0, done.stderr
        return done

    def popen(self, python, *arguments, **extra):
        return subprocess.Popen([python, *map(str, arguments)], env=self.environment(True, **extra), cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def rings(self):
        return ring_reader.rings(self.spool)

    def ring(self):
        """The one ring that must be there."""
        rings = self.rings()
        assert len(rings) == 1, [ring.path.name for ring in rings]
        return rings[0]
