# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""fork, spawn, threads: a forked child is silent, no thread outside a window, no warning of Python 3.12+."""
import sys

import pytest
from agent_support import need_version

STEPS = """
import sys, time
sys.path.insert(0, {folder!r})
import jax
from gpuwhy_agent import core, hooks
from gpuwhy_agent.ring import clock
"""


def script(job, code):
    (job.folder / "jax.py").write_text("__version__ = '0.0'\n")
    return job.script(STEPS.format(folder=str(job.folder)) + code)


@pytest.mark.parametrize("version", ["3.6", "3.8", "3.11", "3.12", "3.13"])
def test_forked_child_writes_nothing(job, version):
    job.run(need_version(version), script(job, """
import os
hooks.step_done(clock())
pid = os.fork()
if pid == 0:
    if core.own_process():
        hooks.step_done(clock())
    import keras_not_there_but_tried as _
    os._exit(0)
os.waitpid(pid, 0)
time.sleep(0.001)
hooks.step_done(clock())
"""))
    ring = job.ring()
    assert [record["index"] for record in ring.of("step")] == [1, 2]
    assert ring.header["closed"] == 1 and "python.exception" not in ring.facts()


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_no_warning_about_fork_and_threads(job, version):
    code = """
import os, threading
hooks.step_done(clock())
assert threading.active_count() == 1
if {sample}:
    from gpuwhy_agent import host_samples
    host_samples.start(3000)
    time.sleep(0.2)
    assert threading.active_count() == 2
pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
assert threading.active_count() == 1
print("fine")
"""
    for sample in (False, True):
        done = job.run(need_version(version), "-W", "error::DeprecationWarning", script(job, code.format(sample=sample)))
        assert done.stdout == "fine\n" and done.stderr == ""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(job, method):
    job.run(sys.executable, script(job, """
import multiprocessing
def child():
    import jax
def main():
    context = multiprocessing.get_context(%r)
    process = context.Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0
if __name__ == "__main__":
    main()
""" % method))
    rings = [ring for ring in job.rings() if "jax.version" in ring.facts()]
    assert len(rings) == (1 if method in ("fork", "forkserver") else 2)
    assert len({ring.header["pid"] for ring in rings}) == len(rings)


def test_exec_after_fork_speaks_again(job):
    job.run(sys.executable, script(job, """
import subprocess
subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, %r); import jax" % sys.path[0]], check=True)
"""))
    rings = job.rings()
    assert len(rings) == 2 and all(ring.facts()["jax.version"] == "0.0" for ring in rings)


def test_ring_has_no_holes_after_interrupts(job):
    """A signal handler that raises between taking a slot and filling it must not stop the reader."""
    job.run(sys.executable, script(job, """
import signal
class Stop(Exception):
    pass
def handler(*_):
    raise Stop()
signal.signal(signal.SIGALRM, handler)
caught = 0
for attempt in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + attempt * 1e-6)
        while True:
            core.state.ring.write(hooks.SAVE, 5, 0, 1, 2)
    except Stop:
        caught += 1
assert caught == 300, caught
"""))
    ring = job.ring()
    assert len(ring.records) + ring.header["tail"] == ring.header["head"]
    assert ring.header["closed"] == 1 and ring.facts()["jax.version"] == "0.0"


def test_threads_write_every_record_once(job):
    job.run(sys.executable, script(job, """
import threading
def work(number):
    for index in range(5000):
        core.state.ring.write(hooks.SAVE, 5, 0, number, index)
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
sys.setswitchinterval(1e-5)
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""))
    ring = job.ring()
    saves = ring.of("save")
    assert len({(record["start_ns"], record["duration_ns"]) for record in saves}) == len(saves) == 20000
    assert ring.header["head"] == len(ring.records)


def test_full_ring_counts_and_goes_on(job):
    done = job.run(sys.executable, script(job, """
from gpuwhy_agent import ring
for _ in range(140000):
    core.state.ring.write(hooks.SAVE, 5, 0, 1, 2)
print("fine")
"""))
    assert done.stdout == "fine\n"
    ring = job.ring()
    assert ring.header["capacity"] - 64 <= len(ring.records) <= ring.header["capacity"]
    assert ring.header["dropped"] >= 140000 - ring.header["capacity"]
