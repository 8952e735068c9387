# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""What torch.compile did: its own counters, and when it compiled. Nothing of it is imported here."""
import functools
import re
import struct
import sys

from gpuwhy_agent import core, hooks
from gpuwhy_agent import wire_gen as wire
from gpuwhy_agent.ring import clock

state = core.state
COMPILE = struct.Struct(wire.FORMAT_COMPILE)
STAGE_ALL = 3  # flags of the record: all that torch.compile does for one frame or one backward graph
# How convert_frame.py says that a frame got no further version: torch 2.0 to 2.6, 2.7, 2.8 and later.
GIVEN_UP = re.compile(r"(cache_size_limit|recompile_limit) reached|recompile limit exceeded")


class _Running(object):
    depth = 0
    start_ns = 0


def facts_of(facts):
    """Counters that torch._dynamo keeps anyway; their names differ between versions."""
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    frames = counters.get("frames") if counters is not None else None
    used = bool(frames and frames.get("total"))
    facts.set("torch.compile_used", used)
    if not used:
        return
    facts.set("torch.dynamo.frames", int(frames.get("total", 0)))
    facts.set("torch.dynamo.frames_ok", int(frames.get("ok", 0)))
    facts.set("torch.dynamo.graphs", int((counters.get("stats") or {}).get("unique_graphs", 0)))
    facts.set("torch.dynamo.graph_breaks", int(sum((counters.get("graph_break") or {}).values())))
    facts.set("torch.dynamo.given_up", _given_up(counters))
    compiled = getattr(sys.modules.get("torch._dynamo.convert_frame"), "FRAME_COMPILE_COUNTER", None)
    if compiled:
        again = [count - 1 for count in list(compiled.values())]
        facts.set("torch.dynamo.recompiles", int(sum(again)))
        facts.set("torch.dynamo.recompiles_of_one_frame", int(max(again)))
    else:
        facts.unknown("torch.dynamo.recompiles", "this torch does not count them")
    times = getattr(utils, "compilation_time_metrics", None)
    if times:
        # Nested phases stand beside each other: the longest of them holds the others.
        facts.set("torch.dynamo.compile_seconds", round(max(sum(each) for each in list(times.values())), 3))
    else:
        facts.unknown("torch.dynamo.compile_seconds", "this torch keeps no times")


def _given_up(counters):
    """Times that a frame hit the limit of its versions: from then on its new inputs run uncompiled."""
    reasons = [pair for name in ("unimplemented", "graph_break") for pair in list((counters.get(name) or {}).items())]
    return int(sum(count for reason, count in reasons if GIVEN_UP.search(str(reason))))


def _begun():
    if _Running.depth == 0:
        _Running.start_ns = clock()
    _Running.depth += 1


def _ended():
    """Nested and concurrent compilations are one record: the time in which any of them ran."""
    _Running.depth = max(0, _Running.depth - 1)
    if _Running.depth == 0 and _Running.start_ns and core.own_process():
        start, _Running.start_ns = _Running.start_ns, 0
        state.ring.write(COMPILE, wire.TYPE_COMPILE, STAGE_ALL, start, clock() - start)


def _beside(note):
    def wrapper(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if state.active:
                try:
                    note()
                except Exception as error:
                    core.fail("compile hook", error)
            return function(*args, **kwargs)
        return call
    return wrapper


def patch_callback(module):
    """torch >= 2.3 tells its own listeners of every compilation; the methods are wrapped because reset() forgets listeners."""
    handler = getattr(module, "CompilationCallbackHandler", None)
    if handler is not None and hasattr(handler, "run_start_callbacks") and hasattr(handler, "run_end_callbacks"):
        hooks.wrap_attribute(handler, "run_start_callbacks", _beside(_begun))
        hooks.wrap_attribute(handler, "run_end_callbacks", _beside(_ended))
