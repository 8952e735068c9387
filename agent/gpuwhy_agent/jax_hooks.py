# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks in JAX: the public jax.monitoring listener and profiler starts. What jax.jit returns is never touched (C++ fast path)."""
import os
import struct
import sys

from gpuwhy_agent import core, hooks
from gpuwhy_agent import wire_gen as wire
from gpuwhy_agent.ring import clock

state = core.state
COMPILE = struct.Struct(wire.FORMAT_COMPILE)
NOT_STARTED = "the job has not started a JAX backend, and asking would do it"
# Event names of jax._src.dispatch: tracing and lowering on the host, then the compiler of the backend. Sent as flags.
EVENTS = {
    "/jax/core/compile/backend_compile_duration": 0,
    "/jax/core/compile/jaxpr_trace_duration": 1,
    "/jax/core/compile/jaxpr_to_mlir_module_duration": 2,
}
REFRESH_NS = 5 * 10**9


class _Job(object):
    refresh_ns = 0
    compilations = 0
    compile_seconds = 0.0


job = _Job()


def _duration(event, seconds, **_unused):
    """Listener: one compilation stage ended just now."""
    kind = EVENTS.get(event)
    if kind is None or not state.active or not core.own_process():
        return
    try:
        now = clock()
        length = int(seconds * 1e9)
        state.ring.write(COMPILE, wire.TYPE_COMPILE, kind, now - length, length)
        if kind == 0:
            job.compilations += 1
            job.compile_seconds += seconds
        if kind == 0 and now >= job.refresh_ns:
            job.refresh_ns = now + REFRESH_NS
            hooks.collect_once("step" if job.compilations == 1 else "refresh")
        hooks.poll_command()
        hooks.account(now)
    except Exception as error:
        core.fail("jax listener", error)


def patch_jax(module):
    monitoring = sys.modules.get("jax.monitoring") or sys.modules.get("jax._src.monitoring")
    register = getattr(monitoring, "register_event_duration_secs_listener", None)
    if register is not None:
        register(_duration)
    else:
        core.gap("compilations of JAX", "this JAX has no jax.monitoring duration listener", "")
    hooks.watch_collections()
    state.collectors.append(collect)
    core.framework_seen()
    core.collect("import")


def patch_profiler(module):
    wrap = lambda action: lambda function: hooks.profiled(function, action, "jax.profiler")  # noqa: E731
    hooks.wrap_attribute(module, "start_trace", wrap(wire.PROFILER_ACTION_START))
    hooks.wrap_attribute(module, "stop_trace", wrap(wire.PROFILER_ACTION_STOP))


def collect(moment):
    """Facts of JAX at one moment: import, step (after the first compilation), refresh, exit."""
    facts = state.facts
    facts.set("jax.version", str(sys.modules["jax"].__version__))
    jaxlib = sys.modules.get("jaxlib.version")
    if jaxlib is not None:
        facts.set("jaxlib.version", str(jaxlib.__version__))
    if moment == "import":
        facts.set("jax.cuda_plugin_version", _plugin_version())
    if job.compilations:
        facts.set("jax.compilations", job.compilations)
        facts.set("jax.compile_seconds", round(job.compile_seconds, 6))
    _backends(facts)


def _plugin_version():
    """Version of the installed CUDA plug-in from the names of its metadata folders ("" = not installed); no import."""
    for entry in list(sys.path):
        try:
            names = os.listdir(entry or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith("jax_cuda") and "_plugin-" in name and name.endswith(".dist-info"):
                return name[:-len(".dist-info")].rpartition("-")[2]
    return ""


def _backends(facts):
    bridge = sys.modules.get("jax._src.xla_bridge")
    default = getattr(bridge, "_default_backend", None)
    errors = getattr(bridge, "_backend_errors", None)
    # Backends that are tried on every machine (tpu, proxy) fail on every machine without them: no news.
    errors = [(name, text) for name, text in sorted((errors or {}).items()) if name in ("cuda", "rocm", "gpu")]
    if errors:
        facts.set("jax.error", "; ".join("%s: %s" % (name, str(text)[:400]) for name, text in errors))
    if default is None:
        for name in ("jax.backend", "jax.devices"):
            facts.unknown(name, NOT_STARTED)
        return
    facts.set("jax.backend", str(default.platform))
    devices = default.local_devices()
    facts.set("jax.device_count", len(devices))
    facts.set("jax.devices", ["%s:%d %s" % (device.platform, device.id, device.device_kind) for device in devices])
    for device in devices:
        _memory(facts, device)


def _memory(facts, device):
    if device.platform == "cpu":
        return
    statistics = device.memory_stats() or {}
    name = "jax.memory.%d." % device.id
    for fact, key in (("allocated_bytes", "bytes_in_use"), ("max_allocated_bytes", "peak_bytes_in_use"), ("limit_bytes", "bytes_limit"),
                      ("reserved_bytes", "bytes_reserved")):
        if key in statistics:
            facts.set(name + fact, int(statistics[key]))
        else:
            facts.unknown(name + fact, "this JAX backend does not tell it")


PATCHES = {"jax": patch_jax, "jax._src.profiler": patch_profiler}
