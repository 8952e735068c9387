# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""What the launching Python threads do during a window: 20 looks a second at their stacks, from a thread that lives no longer."""
import linecache
import re
import struct
import sys
import threading

from gpuwhy_agent import core
from gpuwhy_agent import wire_gen as wire
from gpuwhy_agent.ring import clock

state = core.state
PERIOD_S = 0.05
HOST_SAMPLE = struct.Struct(wire.FORMAT_HOST_SAMPLE)

_INPUT, _SYNC, _DISPATCH = wire.HOST_CATEGORY_INPUT, wire.HOST_CATEGORY_SYNC, wire.HOST_CATEGORY_DISPATCH
_CHECKPOINT, _COMPILE, _IDLE = wire.HOST_CATEGORY_CHECKPOINT, wire.HOST_CATEGORY_COMPILE, wire.HOST_CATEGORY_IDLE

# (end of the file name or folder in it, function or "", category); the first frame from outside that matches decides, so that
# an image decoder counts as input when a loader called it.
OUTER = (
    ("torch/utils/data/", "", _INPUT),
    ("tensorflow/python/data/ops/iterator_ops.py", "__next__", _INPUT),
    ("grain/", "", _INPUT),
    ("torch/serialization.py", "save", _CHECKPOINT),
    ("keras/src/saving/", "", _CHECKPOINT),
    ("torch/_dynamo/convert_frame.py", "", _COMPILE), ("torch/_inductor/", "", _COMPILE),
    ("jax/_src/compiler.py", "", _COMPILE), ("jax/_src/interpreters/partial_eval.py", "", _COMPILE),
    ("torch/cuda/__init__.py", "synchronize", _SYNC), ("torch/cuda/streams.py", "synchronize", _SYNC),
    ("jax/_src/api.py", "block_until_ready", _SYNC), ("tensorflow/python/eager/context.py", "async_wait", _SYNC),
    ("tensorflow/python/framework/ops.py", "_numpy", _SYNC), ("tensorflow/python/framework/ops.py", "numpy", _SYNC),
)
# Then the innermost frame: frameworks below it are dispatching, a wait of the interpreter is idle.
INNER = (
    ("threading.py", "wait", _IDLE), ("threading.py", "join", _IDLE), ("selectors.py", "select", _IDLE), ("queue.py", "get", _IDLE),
    ("/torch/", "", _DISPATCH), ("/tensorflow/", "", _DISPATCH), ("/keras/", "", _DISPATCH), ("/jax/", "", _DISPATCH),
    ("/optax/", "", _DISPATCH), ("/flax/", "", _DISPATCH),
)
# Calls that run in C and leave no frame; the line of the innermost frame shows them.
SYNC_CALL = re.compile(r"\.(item|tolist|cpu|numpy|nonzero|block_until_ready|synchronize)\(")
CHECKPOINT_CALL = re.compile(r"\btorch\.save\(")
SLEEP_CALL = re.compile(r"\bsleep\(")


def _matches(frame, rule):
    name = frame.f_code.co_filename
    return (rule[0] in name if rule[0].endswith("/") else name.endswith(rule[0])) and rule[1] in ("", frame.f_code.co_name)


def classify(frame):
    """(category, deciding frame) of one stack, given its innermost frame."""
    stack = []
    each = frame
    while each is not None:
        if each.f_globals.get("__package__") != __package__:
            stack.append(each)
        each = each.f_back
    for each in reversed(stack):
        for rule in OUTER:
            if _matches(each, rule):
                # Of a loader the innermost frame tells more: what it reads, decodes, collates or waits for.
                return rule[2], stack[0] if rule[2] == _INPUT else each
    inner = stack[0] if stack else frame
    line = linecache.getline(inner.f_code.co_filename, inner.f_lineno)
    for pattern, category in ((SYNC_CALL, _SYNC), (CHECKPOINT_CALL, _CHECKPOINT), (SLEEP_CALL, _IDLE)):
        if pattern.search(line):
            return category, inner
    for rule in INNER:
        if _matches(inner, rule):
            return rule[2], inner
    return wire.HOST_CATEGORY_OTHER, inner


def describe(frame):
    """Short name of a frame: last two parts of the path, line, function."""
    parts = frame.f_code.co_filename.replace("\\", "/").split("/")
    return "%s:%d %s" % ("/".join(parts[-2:]), frame.f_lineno, frame.f_code.co_name)


class _Sampler(object):
    def __init__(self, milliseconds):
        self.end_ns = clock() + milliseconds * 1000000
        self.wake = threading.Event()
        self.names = {}
        self.thread = threading.Thread(target=self.run, name="gpuwhy-window", daemon=True)

    def run(self):
        try:
            while clock() < self.end_ns and not self.wake.wait(PERIOD_S):
                self.sample()
        except Exception as error:
            state.facts.set("agent.error", "host samples: %s: %s" % (type(error).__name__, error))

    def sample(self):
        main = threading.main_thread().ident
        watched = state.threads | {main}
        natives = {thread.ident: getattr(thread, "native_id", None) or 0 for thread in threading.enumerate()}
        frames = sys._current_frames()
        try:
            for ident in watched:
                if ident in frames:
                    category, frame = classify(frames[ident])
                    state.ring.write(HOST_SAMPLE, wire.TYPE_HOST_SAMPLE, 0, category, self.name_of(frame), natives.get(ident, 0))
        finally:
            del frames  # holding other threads' frames would keep their locals alive

    def name_of(self, frame):
        text = describe(frame)
        if text not in self.names:
            self.names[text] = state.ring.blob(wire.BLOB_KIND_FRAME_NAME, text.encode("ascii", "replace"))
        return self.names[text]


_current = []


def start(milliseconds):
    """Starts the sampling thread; a window that is still open ends first."""
    stop()
    sampler = _Sampler(milliseconds)
    _current.append(sampler)
    sampler.thread.start()


def stop():
    """Ends the thread now (before a fork, and before the next window)."""
    while _current:
        sampler = _current.pop()
        sampler.wake.set()
        if sampler.thread.is_alive() and sampler.thread is not threading.current_thread():
            sampler.thread.join(0.5)


core.imports.finishers.append(stop)
