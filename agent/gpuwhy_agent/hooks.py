# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""What the hooks of all frameworks share: records of waits, steps, checkpoints, profilers and collections."""
import functools
import struct
import threading

from gpuwhy_agent import core, inject
from gpuwhy_agent import wire_gen as wire
from gpuwhy_agent.ring import clock

WAIT = struct.Struct(wire.FORMAT_WAIT)
STEP = struct.Struct(wire.FORMAT_STEP)
SAVE = struct.Struct(wire.FORMAT_SAVE)
PROFILER = struct.Struct(wire.FORMAT_PROFILER)
GC = struct.Struct(wire.FORMAT_GC)

MEMORY = struct.Struct(wire.FORMAT_MEMORY)

FLAG_EVALUATION = 1  # the batch was drawn while gradients were off
FLAG_SUM = 2  # the record stands for all batches since the last one of this loader

# At most 2000 records a second of one kind and loader; what comes faster is added up.
SPACING_NS = 500000
# Facts that change (memory) are read again after this long, doubling up to a minute.
FIRST_REFRESH_NS = 5 * 10**9
LONGEST_REFRESH_NS = 60 * 10**9

MEMORY_SPACING_NS = 10**9
UNKNOWN_64, UNKNOWN_32 = 2**64 - 1, 2**32 - 1

state = core.state
memory_readers = []  # functions that return (device, allocated, reserved, device_allocs, retries), None for unknown, or None


class Loader(object):
    """What is known of one data loader: its number on the wire and the batches that are not written yet."""
    count = 0

    def __init__(self):
        Loader.count += 1
        self.number = Loader.count
        self.sequence = 0
        self.last_ns = 0
        self.start_ns = 0
        self.duration_ns = 0
        self.items = 0
        self.pending = 0
        self.flags = 0
        self.wait_ns = 0  # for all batches
        self.first_wait_ns = 0  # for the first batch of each iterator, where workers start up
        loaders.append(self)

    def record(self, start, end, items, evaluation):
        """One batch drawn between two clock readings."""
        duration = end - start
        self.wait_ns += duration
        if not evaluation:
            state.wait_ns += duration
            state.items += items
        flags = FLAG_EVALUATION if evaluation else 0
        if self.pending and flags != self.flags:
            self.flush()
        if not self.pending:
            self.start_ns = start
        self.flags = flags
        self.sequence += 1
        self.duration_ns += duration
        self.items += items
        self.pending += 1
        if end - self.last_ns >= SPACING_NS:
            self.last_ns = end
            self.flush()

    def flush(self):
        if self.pending:
            flags = self.flags | (FLAG_SUM if self.pending > 1 else 0)
            state.ring.write(WAIT, wire.TYPE_WAIT, flags, self.start_ns, self.duration_ns, self.number, self.items, self.sequence)
            self.duration_ns = self.items = self.pending = 0


loaders = []
pending = []  # functions(now) that steps continue until they return True


class _Steps(object):
    last_ns = 0
    refresh_ns = 0
    memory_ns = 0
    interval_ns = FIRST_REFRESH_NS
    unwritten = 0
    flags = 0  # of the last step that was not written
    once_ns = 0  # facts taken inside the running hook: told apart from what every step pays


def step_done(now, flags=0):
    """One optimizer step: record, first facts, commands of gpuwhy. `now` is when the hook was entered."""
    state.steps += 1
    state.ring.set_steps(state.steps)
    if now - _Steps.last_ns >= SPACING_NS:
        _Steps.last_ns = now
        _write_step(flags)
    else:
        _Steps.unwritten += 1
        _Steps.flags = flags
    after_work(now)


def _write_step(flags):
    _Steps.unwritten = 0
    state.ring.write(STEP, wire.TYPE_STEP, flags, state.steps, state.hook_ns, state.wait_ns, state.save_ns, state.items)
    state.hook_ns = 0


def after_work(now):
    """Common end of a step or a train call: facts at the first and now and then, then gpuwhy's commands."""
    if now >= _Steps.refresh_ns:
        first = _Steps.refresh_ns == 0
        if not first:
            _Steps.interval_ns = min(2 * _Steps.interval_ns, LONGEST_REFRESH_NS)
        _Steps.refresh_ns = now + _Steps.interval_ns
        state.threads.add(threading.get_ident())
        collect_once("step" if first else "refresh")
    if memory_readers and now - _Steps.memory_ns >= MEMORY_SPACING_NS:
        _Steps.memory_ns = now
        _look_at_memory()
    poll_command()
    while pending:
        if not pending[0](now):
            break
        pending.pop(0)


def _look_at_memory():
    """One record a second and framework; a reader that fails is asked no more."""
    for reader in list(memory_readers):
        try:
            seen = reader()
        except Exception as error:
            memory_readers.remove(reader)
            state.facts.set("agent.error", "memory: %s: %s" % (type(error).__name__, error))
            continue
        if seen is not None:
            device, allocated, reserved, allocs, retries = seen
            state.ring.write(MEMORY, wire.TYPE_MEMORY, 0, allocated, reserved or 0, UNKNOWN_64 if allocs is None else allocs, state.steps,
                             UNKNOWN_32 if retries is None else retries, device)


def collect_once(moment):
    """Facts in the middle of the job."""
    begin = clock()
    core.collect(moment)
    _Steps.once_ns += clock() - begin


def poll_command():
    """One read of mapped memory unless gpuwhy wants something."""
    if state.ring.halves[wire.OFFSET_COMMAND_SEQ // 4] != state.command_seq:
        from gpuwhy_agent import commands
        commands.take()


def account(start):
    """Adds the time since `start` to the cost of our hooks; the facts taken now and then have a sum of their own."""
    spent = clock() - start
    state.hook_ns += spent
    if _Steps.once_ns:
        state.collect_ns += _Steps.once_ns
        spent -= _Steps.once_ns
        _Steps.once_ns = 0
    state.hook_total_ns += spent
    state.hook_calls += 1


def finish():
    """Writes what rate limits held back."""
    for loader in loaders:
        loader.flush()
    if _Steps.unwritten:
        _write_step(_Steps.flags)


core.imports.finishers.append(finish)


def timed_save(function):
    """Wraps a function that writes a checkpoint."""
    @functools.wraps(function)
    def save(*args, **kwargs):
        start = clock()
        try:
            return function(*args, **kwargs)
        finally:
            if core.own_process():
                _save_done(start)
    return save


def _save_done(start):
    try:
        duration = clock() - start
        state.save_ns += duration
        state.ring.write(SAVE, wire.TYPE_SAVE, 0, start, duration)
    except Exception as error:
        core.fail("save hook", error)


def profiler(action, name):
    """The job's own profiler starts or stops; before it starts, the CUDA library leaves CUPTI to it."""
    if not core.own_process():
        return
    try:
        from gpuwhy_agent import commands
        if action == wire.PROFILER_ACTION_START:
            commands.user_profiler()
            inject.close()
        blob = state.ring.blob(wire.BLOB_KIND_FRAME_NAME, name.encode("ascii", "replace"))
        state.ring.write(PROFILER, wire.TYPE_PROFILER, 0, action, blob)
    except Exception as error:
        core.fail("profiler hook", error)


class _Nesting(object):
    depth = 0
    running = set()


def _profiler_key(args, name):
    """What a start and its stop have in common: the profiler object, or the module for plain functions."""
    owner = args[0] if args else None
    return id(owner) if hasattr(owner, "stop") or hasattr(owner, "__exit__") else name


def profiled(function, action, name):
    """Wraps a start (told before it) or a stop (told after it) of a profiler; one that is switched off is none.

    torch.profiler works through torch.autograd.profiler: only the outermost start is told, and only its own stop.
    """
    @functools.wraps(function)
    def call(*args, **kwargs):
        if _Nesting.depth or (args and not getattr(args[0], "enabled", True)):
            return function(*args, **kwargs)
        key = _profiler_key(args, name)
        if action == wire.PROFILER_ACTION_START:
            _Nesting.running.add(key)
            profiler(action, name)
        _Nesting.depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            _Nesting.depth -= 1
            if action == wire.PROFILER_ACTION_STOP and key in _Nesting.running:
                _Nesting.running.discard(key)
                profiler(action, name)
    return call


def wrap_attribute(owner, attribute, wrapper):
    """Replaces owner.attribute by wrapper(old) where it is defined on the owner itself; quiet where it is not."""
    old = vars(owner).get(attribute)
    if old is not None and callable(old):
        setattr(owner, attribute, wrapper(old))
        return True
    return False


class _Collections(object):
    """gc callback: writes the collections of the oldest generation; the others cost two comparisons."""
    start = 0

    def __call__(self, phase, info):
        if info["generation"] != 2 or not state.active or state.ring is None or not core.own_process():
            return
        try:
            now = clock()
            if phase == "start":
                self.start = now
            elif self.start:
                state.ring.write(GC, wire.TYPE_GC, 0, self.start, now - self.start, 2)
                self.start = 0
        except Exception as error:
            core.fail("gc hook", error)


def watch_collections():
    import gc
    if not any(isinstance(callback, _Collections) for callback in gc.callbacks):
        gc.callbacks.append(_Collections())
