# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command plainly and under `gpuwhy run`, so that a test can demand that both look the same."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Absolute: some jobs start in another folder.
PROGRAM = os.path.abspath(os.environ.get("GPUWHY_BIN") or ROOT / "build" / "gpuwhy")
# What gpuwhy documents to change in the job's environment.
DOCUMENTED = {"GPUWHY_SPOOL", "GPUWHY_TRACE", "PYTHONPATH", "CUDA_INJECTION64_PATH"}
LIMIT_S = 60


class Pair:
    """One command, run without and with gpuwhy."""

    def __init__(self, folder):
        self.folder = folder
        self.report = folder / "report.txt"
        self.environment = dict(os.environ, XDG_STATE_HOME=str(folder / "state"))
        for name in ("GPUWHY_DISABLE", "GPUWHY_SPOOL", "CUDA_INJECTION64_PATH"):
            self.environment.pop(name, None)

    def prefix(self, report=None):
        return [PROGRAM, "run", "-q", "-o", str(report or self.report), "--"]

    def run(self, prefix, command, **options):
        options.setdefault("env", self.environment)
        options.setdefault("stdin", subprocess.DEVNULL)
        if options.get("input") is not None:
            del options["stdin"]
        return subprocess.run(list(prefix) + list(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=LIMIT_S, check=False, **options)

    def plain(self, command, **options):
        return self.run([], command, **options)

    def watched(self, command, **options):
        return self.run(self.prefix(), command, **options)

    def same(self, command, **options):
        """Asserts equal status and output; returns the watched result."""
        plain, watched = self.plain(command, **options), self.watched(command, **options)
        assert (watched.returncode, watched.stdout, watched.stderr) == (plain.returncode, plain.stdout, plain.stderr)
        return watched

    def start(self, command, **options):
        """The command under gpuwhy, running."""
        options.setdefault("env", self.environment)
        return subprocess.Popen(self.prefix() + list(command), **options)
