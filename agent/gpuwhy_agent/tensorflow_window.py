# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""A one-second window of tf.profiler without CUPTI: what Python cannot see of tf.data inside a tf.function.

device_tracer_level=0 keeps CUPTI out; a profiler session of the job's own wins. No thread: hooks start, stop and read it.
"""
import os
import shutil
import tempfile

from gpuwhy_agent import core, hooks, xplane
from gpuwhy_agent.ring import clock

state = core.state
SLICE_NS = 2000000  # reading takes at most this much of a train call
EXIT_NS = 200000000  # and this much at exit
LARGEST_BYTES = 64 * 1024 * 1024


class _Window(object):
    """The one window that may be open."""
    module = None  # tensorflow.python.profiler.profiler_v2
    session = None
    folder = ""
    start_ns = 0
    end_ns = 0
    seconds = 0.0
    reader = None
    totals = None
    users_own = False


window = _Window()


def remember(module):
    window.module = module


def user_profiler():
    """The job starts its own profiler: ours ends at once, and none is opened again."""
    window.users_own = True
    if window.session is not None:
        _abandon("the job started its own profiler")


def _abandon(why):
    session, window.session = window.session, None
    if session is not None:
        try:
            session.stop()
        except Exception:
            pass
        shutil.rmtree(window.folder, ignore_errors=True)
    core.gap("time in tf.data inside a tf.function", why, "run again without the other profiler")


def begin(milliseconds):
    """Opens the window; where a session exists already TensorFlow refuses, and the gap says so."""
    if window.module is None or window.session is not None or window.reader is not None:
        return
    if window.users_own or getattr(window.module, "_profiler", None) is not None:
        core.gap("time in tf.data inside a tf.function", "the job uses its own profiler", "run again without it")
        return
    session = window.module._pywrap_profiler.ProfilerSession()
    try:
        # Iterator:: events have TraceMe level 2; python_tracer_level would slow the job down.
        window.folder = tempfile.mkdtemp(prefix="tf-profile-", dir=state.spool)
        session.start(window.folder, {"host_tracer_level": 2, "device_tracer_level": 0, "python_tracer_level": 0, "delay_ms": None})
    except Exception as error:
        shutil.rmtree(window.folder, ignore_errors=True)
        core.gap("time in tf.data inside a tf.function", "TensorFlow refused a profiler session: %s" % error, "")
        return
    window.session = session
    window.start_ns = clock()
    window.end_ns = window.start_ns + milliseconds * 1000000
    hooks.pending.append(advance)


def advance(now):
    """Called at every train call while there is work: closes the window in time, then reads a slice. True when done."""
    if window.session is not None:
        if now >= window.end_ns:
            _close(now)
        return window.session is None and window.reader is None
    if window.reader is None:
        return True
    return _read_until(clock() + SLICE_NS)


def _close(now):
    session, window.session = window.session, None
    # session.stop() would return trace events, cut at a million; the exported file is the whole XSpace.
    session.export_to_tb()
    data = _take_file()
    window.seconds = (now - window.start_ns) / 1e9
    state.facts.set("tensorflow.input.stop_seconds", round((clock() - now) / 1e9, 6))
    if data is None:
        core.gap("time in tf.data inside a tf.function", "TensorFlow wrote no profile, or one too large to read inside the job", "")
        return
    window.totals = {}
    window.reader = xplane.read(data, window.totals)


def _take_file():
    """The exported xplane.pb, and nothing left in the spool; None where there is none of a size that can be read."""
    try:
        for folder, _, names in os.walk(window.folder):
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith(".xplane.pb") and os.path.getsize(path) <= LARGEST_BYTES:
                    with open(path, "rb") as profile:
                        return profile.read()
        return None
    finally:
        shutil.rmtree(window.folder, ignore_errors=True)


def _read_until(deadline):
    try:
        while clock() < deadline:
            next(window.reader)
        return False
    except StopIteration:
        window.reader = None
        _tell()
    except (ValueError, IndexError) as error:
        window.reader = None
        core.gap("time in tf.data inside a tf.function", "the profile cannot be read: %s" % error, "")
    return True


def _tell():
    """Facts from the sums; an iterator's time contains that of the iterators it pulls from."""
    facts = state.facts
    # The op's own event is IteratorGetNextOp::DoCompute; the executor may show the same time again under the node's name.
    get_next = [entry for name, entry in window.totals.items() if name.startswith(xplane.GET_NEXT) and "Op::" in name]
    if not get_next:
        get_next = [entry for name, entry in window.totals.items() if name.startswith(xplane.GET_NEXT)]
    facts.set("tensorflow.input.window_seconds", round(window.seconds, 6))
    facts.set("tensorflow.input.get_next_seconds", round(sum(entry[0] for entry in get_next), 6))
    facts.set("tensorflow.input.get_next_count", sum(entry[1] for entry in get_next))
    iterators = {name[name.index(xplane.ITERATOR):]: entry for name, entry in window.totals.items() if xplane.ITERATOR in name}
    facts.set("tensorflow.input.iterators", {name: [round(entry[0], 6), entry[1]] for name, entry in sorted(iterators.items())})
    exclusive = _exclusive(iterators)
    if exclusive:
        slowest = max(exclusive, key=exclusive.get)
        facts.set("tensorflow.input.slowest_iterator", slowest.rpartition("::")[2])
        facts.set("tensorflow.input.slowest_iterator_seconds", round(exclusive[slowest], 6))
    facts.flush()


def _exclusive(iterators):
    """Seconds of each iterator without those of its direct inputs: names are paths, Iterator::Root::Prefetch::Map."""
    result = {}
    for name, entry in iterators.items():
        inputs = sum(other[0] for path, other in iterators.items()
                     if path.startswith(name + "::") and "::" not in path[len(name) + 2:])
        result[name] = max(entry[0] - inputs, 0.0)
    return result


def finish():
    """At exit: what is open is closed, what was recorded is read as far as the time allows."""
    if window.session is not None:
        _close(clock())
    if window.reader is not None and not _read_until(clock() + EXIT_NS):
        core.gap("time in tf.data inside a tf.function", "the job ended before its profile was read", "")
    del hooks.pending[:]


core.imports.finishers.append(finish)
