# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Wishes of gpuwhy and the neighbour in the process, the CUDA library."""
import shutil
import subprocess
import sys

import pytest

START = """
import sys, time
sys.path.insert(0, {folder!r})
import jax
from gpuwhy_agent import core, hooks
from gpuwhy_agent.ring import clock
def wish(command, milliseconds):
    ring = core.state.ring
    ring.halves[148 // 4], ring.halves[152 // 4] = command, milliseconds
    ring.halves[144 // 4] += 1
"""
CATEGORIES = {"other": 0, "input": 1, "sync": 2, "dispatch": 3, "checkpoint": 4, "gc": 5, "compile": 6, "idle": 7}


def script(job, code):
    (job.folder / "jax.py").write_text("__version__ = '0.0'\n")
    return job.script(START.format(folder=str(job.folder)) + code)


def test_host_samples(job):
    package = job.folder / "torch" / "utils" / "data"
    package.mkdir(parents=True)
    (package / "loader.py").write_text("import time\ndef fetch(seconds):\n"
                                       "    end = time.monotonic() + seconds\n    while time.monotonic() < end: pass\n")
    job.run(sys.executable, script(job, """
import importlib.util, threading
spec = importlib.util.spec_from_file_location("loader", sys.path[0] + "/torch/utils/data/loader.py")
loader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loader)
class Tensor:
    def item(self):
        pass
def compute():
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        Tensor().item(), time.sleep(0.01)
wish(5, 900)
hooks.step_done(clock())
loader.fetch(0.5)
time.sleep(0.5)
assert threading.active_count() == 1, "the thread lives no longer than its window"
"""))
    ring = job.ring()
    assert ring.header["ack_seq"] == 1
    samples = ring.of("host_sample")
    assert 5 <= len(samples) <= 19
    names = dict(ring.blobs("frame_name"))
    first = samples[0]
    assert first["category"] == CATEGORIES["input"] and names[first["frame"]].startswith("data/loader.py:")
    assert first["thread"] == ring.header["pid"]
    assert samples[-1]["category"] == CATEGORIES["idle"] and names[samples[-1]["frame"]].startswith(job.folder.name + "/job.py:")


def test_unknown_and_foreign_commands_are_acknowledged(job):
    job.run(sys.executable, script(job, "wish(1, 100)\nhooks.step_done(clock())\nwish(6, 100)\nhooks.step_done(clock())\n"))
    ring = job.ring()
    assert ring.header["ack_seq"] == 2
    assert [gap["what"] for gap in ring.gaps()] == ["compilations of JAX", "time in tf.data inside a tf.function"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("loaded", [True, False])
def test_cuda_library_is_closed_before_the_jobs_profiler(job, loaded):
    source = job.folder / "fake.c"
    source.write_text('#include <stdio.h>\n'
                      'int gpuwhy_inject_close(unsigned ms) { printf("closed %u\\n", ms); fflush(stdout); return 0; }\n')
    library = job.folder / "libfake_inject.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = job.run(sys.executable, script(job, """
import ctypes, os
if %r:
    ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
hooks.step_done(clock())
hooks.step_done(clock())
class Profiler:
    def start(self):
        print("profiler starts", flush=True)
    def stop(self):
        pass
hooks.wrap_attribute(Profiler, "start", lambda f: hooks.profiled(f, 1, "mine"))
hooks.wrap_attribute(Profiler, "stop", lambda f: hooks.profiled(f, 2, "mine"))
profiler = Profiler()
profiler.start()
profiler.stop()
""" % loaded), CUDA_INJECTION64_PATH=str(library))
    ours = "closed 500\n" if loaded else ""
    assert done.stdout == ours + "profiler starts\n", "never loaded by us, told before the profiler starts"
    assert [record["action"] for record in job.ring().of("profiler")] == [1, 2]


def test_fast_steps_are_added_up(job):
    job.run(sys.executable, script(job, """
loader = hooks.Loader()
for index in range(5000):
    now = clock()
    loader.record(now, now + 10, 4, False)
    hooks.step_done(now + 10)
"""))
    ring = job.ring()
    assert ring.header["steps"] == 5000 and ring.of("step")[-1]["index"] == 5000
    assert ring.of("step")[-1]["items"] == 20000 and ring.of("step")[-1]["wait_ns"] == 50000
    waits = ring.of("wait")
    assert sum(record["items"] for record in waits) == 20000 and sum(record["duration_ns"] for record in waits) == 50000
    assert waits[-1]["sequence"] == 5000
