# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs on a terminal: keys, job control, terminal modes; each with and without gpuwhy."""
import os
import re
import signal
import sys
import time

import pytest
from terminal import PROMPT, Shell, Terminal

PYTHON = [sys.executable, "-S", "-c"]


@pytest.fixture(params=["plain", "watched"])
def prefix(request, pair):
    """Every test states what a user sees without gpuwhy, and is run both ways."""
    return [] if request.param == "plain" else pair.prefix()


def line(prefix, script):
    """A shell line that runs the sh script (without single quotes)."""
    return " ".join(prefix + ["sh", "-c", f"'{script}'"]).encode()


def python_line(prefix, folder, code):
    path = folder / "job.py"
    path.write_text(code)
    return " ".join(prefix + [sys.executable, "-S", str(path)]).encode()


def stop_reported(text):
    return re.search(rb"\[1\]\+  Stopped", text) is not None


@pytest.mark.parametrize("key,number", [(b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)])
def test_key_ends_a_job_that_does_not_handle_it(pair, prefix, key, number):
    with Terminal(prefix + ["sh", "-c", "echo ready; exec sleep 60"], pair.environment) as terminal:
        terminal.expect(b"ready")
        terminal.type(key)
        status = terminal.status()
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == number


def test_control_c_is_handled_once_and_the_job_finishes(pair, prefix):
    code = ("import signal, time\nseen = []\nsignal.signal(signal.SIGINT, lambda *_: seen.append(1))\nprint('ready', flush=True)\n"
            "end = time.time() + 1\nwhile time.time() < end: time.sleep(0.05)\n"
            "print('interrupts', len(seen), flush=True)\nraise SystemExit(3)")
    with Terminal(prefix + PYTHON + [code], pair.environment) as terminal:
        terminal.expect(b"ready")
        terminal.type(b"\x03")
        terminal.expect(b"interrupts 1\r\n")
        status = terminal.status()
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 3


def test_control_z_then_foreground(pair, prefix):
    with Shell(pair.environment) as shell:
        shell.start(line(prefix, "echo ready; read answer; echo got $answer; exit 5"))
        shell.expect(b"ready")
        shell.type(b"\x1a")
        assert stop_reported(shell.expect(PROMPT))
        assert b"Stopped" in shell.command(b"jobs")
        shell.start(b"fg")
        shell.expect(b"sh -c")
        time.sleep(0.2)
        shell.type(b"hello\n")
        shell.expect(b"got hello")
        shell.expect(PROMPT)
        assert b"=5=" in shell.command(b"echo =$?=")


def test_control_z_then_background(pair, prefix):
    with Shell(pair.environment) as shell:
        shell.start(line(prefix, "echo ready; sleep 1; echo finished; exit 5"))
        shell.expect(b"ready")
        # dash starts programs by vfork: stopped between vfork and exec it hangs in the kernel, with and without gpuwhy.
        time.sleep(0.2)
        shell.type(b"\x1a")
        assert stop_reported(shell.expect(PROMPT))
        shell.command(b"bg")
        shell.expect(b"finished")
        assert b"=5=" in shell.command(b"wait %1; echo =$?=")


def test_control_z_many_times(pair, prefix):
    with Shell(pair.environment) as shell:
        shell.start(line(prefix, "echo ready; read answer; exit 5"))
        shell.expect(b"ready")
        for _ in range(5):
            shell.type(b"\x1a")
            assert stop_reported(shell.expect(PROMPT))
            shell.start(b"fg")
            shell.expect(b"sh -c")
            time.sleep(0.1)
        shell.type(b"x\n")
        shell.expect(PROMPT)
        assert b"=5=" in shell.command(b"echo =$?=")


def test_a_job_that_ignores_control_z_goes_on(pair, prefix):
    with Shell(pair.environment) as shell:
        shell.start(line(prefix, 'trap "" TSTP; echo ready; sleep 0.7; echo finished'))
        shell.expect(b"ready")
        shell.type(b"\x1a")
        assert PROMPT not in shell.expect(b"finished")
        shell.expect(PROMPT)
        assert b"=0=" in shell.command(b"echo =$?=")


def test_a_background_job_that_reads_is_stopped(pair, prefix):
    with Shell(pair.environment) as shell:
        shell.command(line(prefix, "read answer; echo got $answer") + b" &")
        end = time.monotonic() + 10
        while b"Stopped" not in shell.command(b"jobs"):
            assert time.monotonic() < end
            time.sleep(0.1)
        shell.start(b"fg")
        shell.expect(b"sh -c")
        time.sleep(0.2)
        shell.type(b"hello\n")
        shell.expect(b"got hello")
        shell.expect(PROMPT)


def test_kill_of_a_shell_job_reaches_the_job_once(pair, prefix):
    code = ("import signal, time\ncount = []\nsignal.signal(signal.SIGTERM, lambda *_: count.append(1))\nprint('ready', flush=True)\n"
            "end = time.time() + 1.5\nwhile time.time() < end: time.sleep(0.05)\nprint('terms', len(count), flush=True)\n")
    with Shell(pair.environment) as shell:
        shell.start(python_line(prefix, pair.folder, code) + b" &")
        shell.expect(b"ready")
        shell.command(b"kill %1")
        shell.expect(b"terms 1\r\n")


def test_a_raw_terminal_is_left_as_the_job_leaves_it(pair, prefix):
    code = ("import sys, termios, tty\nbefore = termios.tcgetattr(0)\ntty.setraw(0)\nsys.stdout.write('ready')\nsys.stdout.flush()\n"
            "key = sys.stdin.buffer.raw.read(1)\ntermios.tcsetattr(0, termios.TCSADRAIN, before)\nprint('key', key[0], flush=True)\n"
            "sys.stdin.readline()")
    with Terminal(prefix + PYTHON + [code], pair.environment) as terminal:
        before = terminal.attributes()
        terminal.expect(b"ready")
        assert terminal.attributes() != before
        terminal.type(b"\x03")  # a plain byte in raw mode
        terminal.expect(b"key 3")
        assert terminal.attributes() == before
        terminal.type(b"\n")
        assert terminal.status() == 0


def test_window_size_and_terminal_are_seen(pair, prefix):
    code = "import os; print(os.get_terminal_size(), [os.ttyname(n) == os.ttyname(0) for n in (0, 1, 2)], os.tcgetpgrp(0) == os.getpgrp())"
    with Shell(pair.environment) as shell:
        path = pair.folder / "size.py"
        path.write_text(code)
        text = shell.command(" ".join(prefix + [sys.executable, "-S", str(path)]).encode())
    assert b"columns=99, lines=33) [True, True, True] True" in text


def test_an_interactive_shell_as_the_job(pair, prefix):
    with Shell(pair.environment) as shell:
        shell.start(" ".join(prefix + ["bash", "--norc", "--noprofile", "--noediting", "-i"]).encode())
        shell.expect(PROMPT)
        shell.start(b"sh -c 'echo ready; exec sleep 60'")
        shell.expect(b"ready")
        shell.type(b"\x1a")
        assert stop_reported(shell.expect(PROMPT))
        shell.command(b"kill -KILL %1; sleep 0.3")
        shell.command(b"jobs")  # a job that is not known to be gone makes the shell refuse to exit
        shell.start(b"exit 8")
        shell.expect(PROMPT)
        assert b"=8=" in shell.command(b"echo =$?=")


def test_hang_up_ends_both(pair, prefix):
    marker = pair.folder / "pid"
    with Terminal(prefix + ["sh", "-c", f"echo $$ > {marker}; echo ready; exec sleep 60"], pair.environment) as terminal:
        terminal.expect(b"ready")
        job = int(marker.read_text())
        os.close(terminal.master)
        _, status = os.waitpid(terminal.pid, 0)
        terminal.pid = 0
        terminal.master = os.open("/dev/null", os.O_RDONLY)
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGHUP
        with pytest.raises(ProcessLookupError):
            os.kill(job, 0)
