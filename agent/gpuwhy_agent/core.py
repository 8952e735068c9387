# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""State of the agent in this process: its ring, its facts, its counters, and what happens at fork and at exit."""
import atexit
import os
import sys
import time

from gpuwhy_agent import imports

# Non-framework processes leave a small ring at their end, and only if they lived this long or failed: a job may
# start thousands of short helpers.
SMALL_CAPACITY = 1024
SHORT_LIFE_S = 1.0


class State(object):
    """Counters that hooks update; plain attributes because a hook may cost microseconds only."""

    def __init__(self):
        self.active = False
        self.pid = 0
        self.spool = ""
        self.started = time.monotonic()
        self.ring = None
        self.facts = None
        self.checks_pid = not hasattr(os, "register_at_fork")
        self.steps = 0
        self.wait_ns = 0
        self.save_ns = 0
        self.items = 0
        self.hook_ns = 0  # since the last step record
        self.hook_total_ns = 0
        self.hook_calls = 0
        self.collect_ns = 0
        self.command_seq = 0
        self.threads = set()  # idents of Python threads that ran a step or drew a batch
        self.collectors = []  # functions(moment) that add facts; moments: import, step, refresh, exit
        self.ended = False


state = State()


def install():
    """Arms import hooks, fork and exit handlers. No ring yet: the first framework import creates it."""
    state.pid = os.getpid()
    state.spool = os.environ["GPUWHY_SPOOL"]
    if not os.path.isdir(state.spool) or not sys.platform.startswith("linux"):
        return
    state.active = True
    os.environ["GPUWHY_AGENT_PID"] = str(state.pid)
    from gpuwhy_agent import environment
    environment.export_cupti_dirs()
    imports.install(on_import)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_child=_in_child)
    sys.excepthook = _Excepthook(sys.excepthook)
    atexit.register(_at_exit)


def own_process():
    """False in a forked child (Python 3.6 has no fork handler, so it asks the kernel)."""
    if state.checks_pid and state.active and os.getpid() != state.pid:
        _in_child()
    return state.active


def open_ring(capacity=0):
    """Creates ring and facts once. False (and for ever inert) where the spool cannot take them."""
    if state.ring is not None:
        return True
    if not own_process():
        return False
    try:
        from gpuwhy_agent import facts, ring
        from gpuwhy_agent import wire_gen as wire
        state.ring = ring.Ring(state.spool, capacity or wire.DEFAULT_CAPACITY)
        state.facts = facts.Facts(state.ring)
        facts.python_facts(state.facts)
        return True
    except Exception:
        state.active = False
        return False


def on_import(name, module):
    """A module of interest was imported by the job: patch it."""
    if not own_process() or not open_ring():
        return
    try:
        from gpuwhy_agent import registry
        registry.patch(name, module)
    except Exception as error:
        fail("import of " + name, error)


def framework_seen():
    """The exit handler must run before those of the framework: register it again, behind its import."""
    atexit.unregister(_at_exit)
    atexit.register(_at_exit)


def fail(where, error):
    """Something of ours broke: say so once and touch the job no more."""
    state.active = False
    try:
        if state.facts is not None:
            state.facts.set("agent.disabled_reason", "%s: %s: %s" % (where, type(error).__name__, error))
            state.facts.flush()
    except Exception:
        pass


def gap(what, why, fix=""):
    """Tells gpuwhy what cannot be seen and why."""
    import json
    from gpuwhy_agent import wire_gen as wire
    text = json.dumps({"what": what, "why": why, "fix": fix})
    state.ring.blob(wire.BLOB_KIND_GAP_JSON, text.encode("ascii"))


def collect(moment):
    """Asks every framework for its facts and sends them if they changed. Never raises."""
    for collector in list(state.collectors):
        try:
            collector(moment)
        except Exception as error:
            state.facts.set("agent.error", "%s at %s: %s: %s" % (collector.__module__, moment, type(error).__name__, error))
    if state.hook_calls:
        state.facts.set("agent.hook_ns_mean", state.hook_total_ns // state.hook_calls)
        state.facts.set("agent.hook_calls", state.hook_calls)
        state.facts.set("agent.collect_ns", state.collect_ns)
    try:
        state.facts.flush()
    except Exception as error:
        fail("facts at " + moment, error)


def _before_fork():
    # Python 3.12 warns when a process with a second thread forks: ours goes first.
    sampler = sys.modules.get("gpuwhy_agent.host_samples")
    if sampler is not None and state.active:
        sampler.stop()


def _in_child():
    state.active = False
    if state.ring is not None:
        state.ring.forsake()


def _at_exit():
    if state.ended or not own_process():
        return
    state.ended = True
    try:
        value = getattr(sys, "last_value", None)
        if state.ring is None and value is None and time.monotonic() - state.started < SHORT_LIFE_S:
            return
        if not open_ring(SMALL_CAPACITY):
            return
        if value is not None:
            note_exception(type(value), value)
        for finish in imports.finishers:
            finish()
        collect("exit")
        state.ring.close()
    except Exception:
        pass
    state.active = False


def note_exception(kind, value):
    """The exception that ends the job: type and message, no traceback (paths and data of the user)."""
    text = "%s: %s" % (kind.__name__, value)
    state.facts.set("python.exception", text[:2000])


def _is_ours(entry):
    return entry.tb_frame.f_globals.get("__package__") == __package__


def _keep(entries):
    """Which traceback entries are the job's. Ours split a run of importlib frames that the interpreter hides as a whole."""
    ours = [_is_ours(entry) for entry in entries]
    keep = [not flag for flag in ours]
    for index, flag in enumerate(ours):
        for step in (-1, 1) if flag else ():
            near = index + step
            while 0 <= near < len(entries) and (ours[near] or entries[near].tb_frame.f_code.co_filename.startswith("<frozen importlib")):
                keep[near] = False
                near += step
    return keep


def strip_frames(value):
    """Takes our wrappers out of tracebacks that are about to be printed, so that they read as without gpuwhy."""
    pending, seen = [value], set()
    while pending:
        value = pending.pop()
        if value is None or id(value) in seen:
            continue
        seen.add(id(value))
        pending += [value.__cause__, value.__context__]
        entries = []
        entry = value.__traceback__
        while entry is not None:
            entries.append(entry)
            entry = entry.tb_next
        if not any(_is_ours(entry) for entry in entries):
            continue
        kept = [entry for entry, keep in zip(entries, _keep(entries)) if keep]
        for entry, following in zip(kept, kept[1:] + [None]):
            entry.tb_next = following
        value.__traceback__ = kept[0] if kept else None


class _Excepthook(object):
    """Chained sys.excepthook; an object, so that it adds no function of ours to the printed stack."""

    def __init__(self, previous):
        self.previous = previous

    def __call__(self, kind, value, traceback):
        try:
            if sys.version_info >= (3, 7):  # before, tb_next cannot be set
                strip_frames(value)
                traceback = value.__traceback__
            if own_process() and open_ring(SMALL_CAPACITY):
                note_exception(kind, value)
                state.facts.flush()
        except Exception:
            pass
        self.previous(kind, value, traceback)
