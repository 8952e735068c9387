# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""The job is unharmed wherever gpuwhy cannot put its own files."""
import contextlib
import os
import pathlib
import pwd
import shutil
import subprocess

import pytest
from transparency_support import PROGRAM

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: mounts a file system or becomes another user")
JOB = ["sh", "-c", "cat; echo out; echo err >&2; exit 7"]


def check(pair, prefix, **changes):
    """Runs the job with variables set (None: unset) and demands its own output and status; returns stderr's notes."""
    environment = dict(pair.environment)
    for name, value in changes.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = str(value)
    result = pair.run(prefix, JOB, input=b"in\n", env=environment)
    assert (result.returncode, result.stdout) == (7, b"in\nout\n")
    lines = result.stderr.splitlines()
    assert lines[0] == b"err"
    return lines[1:]


@pytest.mark.parametrize("changes", [
    {"HOME": None, "XDG_STATE_HOME": None}, {"HOME": "/nonexistent", "XDG_STATE_HOME": None}, {"HOME": ""},
    {"TMPDIR": "/nonexistent", "XDG_RUNTIME_DIR": None}, {"TMPDIR": "relative"}, {"TMPDIR": ""}, {"TMPDIR": "/dev/shm"},
    {"TMPDIR": "/proc", "XDG_RUNTIME_DIR": "/proc"}, {"XDG_RUNTIME_DIR": "/nonexistent"}, {"XDG_RUNTIME_DIR": "/etc/passwd"},
], ids=str)
def test_odd_folders(pair, changes):
    assert check(pair, pair.prefix(), **changes) == []
    assert not os.path.exists("/nonexistent")  # a folder that the user has not is not made


@ROOT_ONLY
def test_runtime_folder_of_another_user_is_not_used(pair):
    folder = pair.folder / "foreign"
    folder.mkdir(mode=0o777)
    os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    check(pair, pair.prefix(), XDG_RUNTIME_DIR=folder)
    assert list(folder.iterdir()) == []


def test_nothing_is_left_in_the_temporary_folder(pair):
    folder = pair.folder / "temporary"
    folder.mkdir(mode=0o700)
    check(pair, pair.prefix(), XDG_RUNTIME_DIR=folder, TMPDIR=folder)
    assert list(folder.iterdir()) == []


def test_a_report_that_cannot_be_written_costs_one_line(pair):
    notes = check(pair, pair.prefix("/nonexistent/folder/report.txt"))
    assert len(notes) <= 1
    assert all(note.startswith(b"gpuwhy: ") for note in notes)


def test_a_report_into_a_descriptor_of_the_shell(pair):
    # What bash makes of `-o >(command)`: a pipe named /dev/fd/N.
    reader, writer = os.pipe()
    result = pair.run(pair.prefix(f"/dev/fd/{writer}"), ["sh", "-c", "exit 7"], pass_fds=[writer])
    os.close(writer)
    with open(reader, "rb") as report:
        assert report.read() != b""
    assert result.returncode == 7


@contextlib.contextmanager
def mounted(folder, options):
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "gpuwhy-test", str(folder)], stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount a tmpfs here: {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@ROOT_ONLY
@pytest.mark.parametrize("options", ["size=64k,mode=0700", "size=4k,mode=0700", "ro", "size=64m,mode=0700,noexec"])
@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "TMPDIR", "XDG_RUNTIME_DIR"])
def test_full_and_read_only_disks(pair, variable, options):
    with mounted(pair.folder / "disk", options) as disk:
        notes = check(pair, pair.prefix(), **{variable: disk})
    assert len(notes) <= 1
    assert all(note.startswith(b"gpuwhy: ") for note in notes)


@ROOT_ONLY
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_another_user_without_privileges(pair):
    program = pathlib.Path(PROGRAM)
    nobody = pwd.getpwnam("nobody")
    drop = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    if subprocess.run(drop + ["test", "-x", str(program)], check=False).returncode != 0:
        pytest.skip(f"nobody may not execute {program}")
    # Without -o: pytest's folder is closed to others, and so is root's home.
    assert check(pair, drop + [PROGRAM, "run", "-q", "-o", "/dev/null", "--"], HOME="/nonexistent", XDG_STATE_HOME=None,
                 XDG_RUNTIME_DIR="/run/user/0", TMPDIR=None) == []


@ROOT_ONLY
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_the_job_may_become_another_user(pair):
    nobody = pwd.getpwnam("nobody")
    command = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", "sh", "-c", "id -u; exit 4"]
    result = pair.same(command)
    assert (result.returncode, result.stdout.strip()) == (4, str(nobody.pw_uid).encode())
