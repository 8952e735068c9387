# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Who outlives whom, and which signals reach the job."""
import os
import signal
import subprocess
import sys
import time

import pytest

COUNTER = ("import signal, sys, time\nseen = []\nnumber = getattr(signal, sys.argv[1])\nsignal.signal(number, lambda *_: seen.append(1))\n"
           "print('ready', flush=True)\nend = time.time() + 1\nwhile time.time() < end: time.sleep(0.02)\nprint(len(seen), flush=True)")


def state(pid):
    """Letter of /proc/PID/stat, '' when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0].decode()
    except OSError:
        return ""


def until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition never came true"
        time.sleep(0.02)


def start_sleeper(pair, **options):
    """gpuwhy and the pid of its job, `sleep 60`."""
    process = pair.start(["sh", "-c", "echo $$; exec sleep 60"], stdout=subprocess.PIPE, **options)
    return process, int(process.stdout.readline())


def test_killed_gpuwhy_leaves_the_job_running_to_its_end(pair):
    done = pair.folder / "done"
    process = pair.start(["sh", "-c", f"echo ready; sleep 1; echo still writing; echo $? > {done}"], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    process.wait()
    assert process.stdout.read() == b"still writing\n"
    until(lambda: done.exists() and done.read_text() == "0\n")


def test_nothing_of_gpuwhy_stays_after_it_was_killed(pair):
    process, job = start_sleeper(pair, start_new_session=True)
    group = process.pid
    process.kill()
    process.wait()
    until(lambda: members(group) == {job})
    os.kill(job, signal.SIGKILL)


def members(group):
    """Living processes of a process group."""
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit() and state(name) not in ("", "Z"):
            try:
                if os.getpgid(int(name)) == group:
                    found.add(int(name))
            except ProcessLookupError:
                pass
    return found


def test_killed_job_leaves_a_report(pair):
    process, job = start_sleeper(pair)
    os.kill(job, signal.SIGKILL)
    assert process.wait(timeout=30) == -signal.SIGKILL
    assert pair.report.stat().st_size > 0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGALRM", "SIGWINCH", "SIGCONT", "SIGRTMIN"])
def test_a_signal_to_gpuwhy_alone_reaches_the_job_once(pair, name):
    process = pair.start([sys.executable, "-S", "-c", COUNTER, name], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(getattr(signal, name))
    assert process.communicate(timeout=30)[0] == b"1\n"
    assert process.returncode == 0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGINT", "SIGCONT"])
def test_a_signal_to_the_group_reaches_the_job_once(pair, name):
    process = pair.start([sys.executable, "-S", "-c", COUNTER, name], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, getattr(signal, name))
    assert process.communicate(timeout=30)[0] == b"1\n"
    assert process.returncode == 0


def test_termination_of_gpuwhy_ends_a_plain_job(pair):
    process, job = start_sleeper(pair)
    process.terminate()
    assert process.wait(timeout=30) == -signal.SIGTERM
    assert state(job) == ""
    assert pair.report.stat().st_size > 0


def test_gpuwhy_stops_and_continues_with_the_job(pair):
    # A group of its own with its parent in another group: the kernel drops SIGTSTP in an orphaned process group, which
    # is what the group of the tests becomes when whoever started them has gone.
    process, job = start_sleeper(pair, process_group=0)
    os.kill(job, signal.SIGSTOP)
    until(lambda: state(job) == "T" and state(process.pid) == "T")
    os.kill(job, signal.SIGCONT)  # the job alone: gpuwhy has to notice by itself
    until(lambda: state(job) == "S" and state(process.pid) == "S")
    process.send_signal(signal.SIGTSTP)
    until(lambda: state(job) == "T" and state(process.pid) == "T")
    process.send_signal(signal.SIGCONT)  # gpuwhy alone: it has to pass it on
    until(lambda: state(job) == "S" and state(process.pid) == "S")
    os.kill(job, signal.SIGKILL)
    assert process.wait(timeout=30) == -signal.SIGKILL


def test_a_stopped_job_that_is_killed_ends_gpuwhy(pair):
    process, job = start_sleeper(pair)
    os.kill(job, signal.SIGSTOP)
    until(lambda: state(process.pid) == "T")
    os.kill(job, signal.SIGKILL)
    assert process.wait(timeout=30) == -signal.SIGKILL


def test_a_grandchild_that_outlives_the_job_holds_nothing_up(pair):
    script = "setsid sleep 30 </dev/null >/dev/null 2>&1 & echo $!; exit 5"
    begin = time.monotonic()
    result = pair.watched(["sh", "-c", script])
    assert result.returncode == 5
    assert time.monotonic() - begin < 10
    os.kill(int(result.stdout), signal.SIGKILL)


def test_an_orphan_is_not_adopted(pair):
    # The parent of an orphan is what it is without gpuwhy: init or a subreaper above, never gpuwhy.
    script = "sh -c 'sleep 0.5; ps -o ppid= -p $$ > %s' & exit 0" % (pair.folder / "parent")
    process = pair.start(["sh", "-c", script])
    process.wait(timeout=30)
    parent = pair.folder / "parent"
    until(lambda: parent.exists() and parent.read_text().strip())
    assert int(parent.read_text()) != process.pid


def test_kill_zero_from_the_job_reaches_it_once(pair):
    code = ("import os, signal, time\nseen = []\nsignal.signal(signal.SIGUSR1, lambda *_: seen.append(1))\nos.kill(0, signal.SIGUSR1)\n"
            "time.sleep(0.2)\ntime.sleep(0.2)\nprint(len(seen))")
    process = pair.start([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    assert process.communicate(timeout=30)[0] == b"1\n"
    assert process.returncode == 0
