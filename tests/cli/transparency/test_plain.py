# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Status, output, descriptors, arguments, environment and limits of a job without a terminal."""
import os
import resource
import signal
import subprocess
import sys

import pytest
from transparency_support import DOCUMENTED

PYTHON = sys.executable


def shell(script):
    return ["sh", "-c", script]


@pytest.mark.parametrize("status", [0, 1, 3, 7, 125, 126, 127, 128, 139, 255])
def test_exit_status(pair, status):
    assert pair.same(shell(f"exit {status}")).returncode == status
    assert pair.report.stat().st_size > 0


@pytest.mark.parametrize("name", ["SEGV", "KILL", "TERM", "ABRT", "INT", "HUP", "PIPE", "USR1", "QUIT", "FPE", "XCPU"])
def test_a_job_killed_by_a_signal_ends_gpuwhy_by_it(pair, name):
    result = pair.same(shell(f"kill -{name} $$"))
    assert result.returncode == -getattr(signal, "SIG" + name)
    assert pair.report.stat().st_size > 0


def test_only_one_core_file(pair):
    def allow_cores():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    folder = pair.folder / "cores"
    folder.mkdir()
    pair.watched(shell("kill -SEGV $$"), cwd=folder, preexec_fn=allow_cores)
    assert len(list(folder.iterdir())) <= 1


@pytest.mark.parametrize("command,status", [("/nonexistent/program", 127), ("no-such-program-anywhere", 127),
                                            ("/etc/passwd", 126), ("/", 126)])
def test_a_command_that_cannot_start(pair, command, status):
    result = pair.watched([command])
    assert result.returncode == status
    assert result.stdout == b""


def test_a_script_without_first_line_runs_as_in_a_shell(pair):
    script = pair.folder / "script"
    script.write_text("echo hello $0 $1; exit 5\n")
    script.chmod(0o755)
    result = pair.watched([str(script), "x"])
    assert (result.returncode, result.stdout) == (5, f"hello {script} x\n".encode())


def test_stdin_passes_through(pair):
    data = bytes(range(256)) * 5000
    assert pair.same(["cat"], input=data).stdout == data


def test_output_is_byte_for_byte_the_same(pair):
    code = ("import os\nfor i in range(2000):\n os.write(1, b'o%d\\xff\\0' % i)\n os.write(2, b'e%d\\n' % i)")
    pair.same([PYTHON, "-S", "-c", code])


def test_interleaving_on_one_descriptor(pair):
    command = shell("for i in 1 2 3 4 5 6 7 8 9; do echo out$i; echo err$i >&2; done")
    outputs = [subprocess.run(prefix + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=pair.environment,
                              timeout=60, check=True).stdout for prefix in ([], pair.prefix())]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_standard_descriptors_stay_closed(pair, closed):
    listing = pair.folder / "listing"
    # As a file: the interpreter must have opened nothing else by then, and fstat says what it was given.
    job = pair.folder / "job.py"
    job.write_text("import os\nopen_ones = []\nfor number in (0, 1, 2):\n try: os.fstat(number)\n except OSError: continue\n"
                   f" open_ones.append(number)\nopen({str(listing)!r}, 'w').write(repr(open_ones))\n")
    seen = []
    for prefix in ([], pair.prefix()):
        line = " ".join(map(quote, prefix + [PYTHON, "-S", str(job)]))
        subprocess.run(shell(f"{line} {closed}"), env=pair.environment, timeout=60, check=True)
        seen.append(listing.read_text())
    open_ones = [number for number, text in enumerate(("<&-", ">&-", "2>&-")) if text not in closed.split()]
    assert seen == [repr(open_ones)] * 2


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def test_broken_pipe_ends_the_job_as_usual(pair):
    line = " ".join(map(quote, pair.prefix() + ["yes"]))
    result = subprocess.run(["bash", "-c", f"{line} | head -1; echo ${{PIPESTATUS[0]}}"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=pair.environment, timeout=60, check=True)
    assert (result.stdout, result.stderr) == (b"y\n141\n", b"")


def test_a_pipe_closes_when_the_job_closes_it(pair):
    with pair.start(shell("exec >&-; sleep 30"), stdout=subprocess.PIPE) as process:
        assert process.stdout.read() == b""  # hangs for 30 s if gpuwhy holds the pipe
        assert process.poll() is None
        process.terminate()


@pytest.mark.parametrize("name", ["INT", "HUP", "QUIT", "TERM", "CHLD", "PIPE", "USR1", "TSTP"])
def test_inherited_ignored_signals(pair, name):
    number = getattr(signal, "SIG" + name)
    result = pair.same(["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"], restore_signals=False,
                       preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
    assert int(result.stdout.split()[-1], 16) >> (number - 1) & 1


def test_inherited_blocked_signals(pair):
    blocked = {signal.SIGUSR1, signal.SIGINT, signal.SIGCHLD, signal.SIGTERM}
    result = pair.same(["grep", "SigBlk", "/proc/self/status"],
                       preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, blocked))
    mask = int(result.stdout.split()[-1], 16)
    assert mask == sum(1 << (number - 1) for number in blocked)


def test_no_trace_of_gpuwhy_in_dispositions(pair):
    # Only the pair counts: whoever runs the tests may hand down signals it ignores itself.
    result = pair.same(["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"])
    assert len(result.stdout.splitlines()) == 3


def test_extra_descriptors_pass_and_none_is_added(pair):
    file = pair.folder / "seven"
    file.write_text("seventh")
    code = "import os; print(os.read(7, 99)); print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"
    lines = []
    for prefix in ([], pair.prefix()):
        line = " ".join(map(quote, prefix + [PYTHON, "-S", "-c", code]))
        lines.append(subprocess.check_output(shell(f"{line} 7<{quote(str(file))}"), env=pair.environment, timeout=60))
    assert b"seventh" in lines[0]
    assert lines[0] == lines[1]


def test_limits_umask_folder_nice(pair):
    def change():
        os.umask(0o037)
        os.nice(3)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (333, 444))
    pair.same(shell("ulimit -a; ulimit -Ha; umask; pwd; nice"), preexec_fn=change, cwd="/usr/share")


def test_small_file_size_limit(pair):
    limit = 64 * 1024
    pair.same(shell("echo hello; ulimit -f; exit 6"),
              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))


@pytest.mark.parametrize("arguments", [[b"a b", b"", b"c\nd", b"'\"$HOME*"], [b"\xff\xfe\x80"], [b"--", b"-q", b"--json"], [b"x" * 100000]])
def test_arguments(pair, arguments):
    code = "import os, sys; os.write(1, b'|'.join(map(os.fsencode, sys.argv[1:])))"
    assert pair.same([PYTHON, "-S", "-c", code] + arguments).stdout == b"|".join(arguments)


def test_environment_differs_by_the_documented_variables_only(pair):
    environment = {os.fsencode(name): os.fsencode(value) for name, value in pair.environment.items()}
    environment[b"ODD"] = b"\xff=\n="
    plain, watched = (run(["env", "-0"], env=environment).stdout.split(b"\0") for run in (pair.plain, pair.watched))
    keep = [entry for entry in watched if entry.split(b"=")[0].decode("latin-1") not in DOCUMENTED]
    assert keep == [entry for entry in plain if entry.split(b"=")[0].decode("latin-1") not in DOCUMENTED]


def test_group_and_session_are_those_of_the_caller(pair):
    code = "import os; print(os.getpgrp(), os.getsid(0), os.getpriority(0, 0))"
    pair.same([PYTHON, "-S", "-c", code])


def test_the_job_may_exec_another_program(pair):
    assert pair.same(shell("exec sh -c 'exec sh -c \"echo deep; exit 9\"'")).returncode == 9


def test_a_job_that_closes_all_descriptors(pair):
    assert pair.same([PYTHON, "-S", "-c", "import os; os.closerange(0, 4096); os._exit(4)"]).returncode == 4


def test_many_short_children(pair):
    code = ("import os\nfor i in range(500):\n pid = os.fork()\n if pid == 0: os._exit(i % 256)\n"
            " assert os.waitpid(pid, 0)[1] >> 8 == i % 256\nprint('all')")
    assert pair.same([PYTHON, "-S", "-c", code]).stdout == b"all\n"


def test_five_hundred_children_at_once(pair):
    code = ("import os, time\npids = []\nfor i in range(500):\n pid = os.fork()\n"
            " if pid == 0:\n  time.sleep(0.2)\n  os._exit(0)\n pids.append(pid)\n"
            "print(sum(os.waitpid(pid, 0)[1] for pid in pids), len(pids))")
    assert pair.same([PYTHON, "-S", "-c", code]).stdout == b"0 500\n"


def test_wait_for_any_child_finds_only_its_own(pair):
    code = "import os\ntry: os.waitpid(-1, os.WNOHANG); print('a child that is not mine')\nexcept ChildProcessError: print('none')"
    assert pair.same([PYTHON, "-S", "-c", code]).stdout == b"none\n"
