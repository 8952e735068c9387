#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of every hook of the Python agent: a loop of a million calls each, with and without it, in this interpreter.

usage: agent_hooks.py [--calls N] [--ring-only]     prints hook, CPU ns a call, Python version
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


class FakeTensor(object):
    shape = (32, 3)
    device = type("device", (), {"type": "cuda"})()

    def dim(self):
        return 2


def fake_torch():
    """The few names of torch that the hooks touch, so that the loop measures the hooks and not torch."""
    torch = type(sys)("torch")
    torch.is_grad_enabled = lambda: True
    torch.cuda = type(sys)("torch.cuda")
    torch.cuda.is_initialized = lambda: False
    sys.modules["torch"] = torch


def measure(function, calls):
    """CPU nanoseconds a call: other work on the machine does not count."""
    loop = range(calls)
    start = time.process_time()
    for _ in loop:
        function()
    return (time.process_time() - start) / calls * 1e9


def drain(state):
    """Plays gpuwhy: everything is read at once, so that records are really written."""
    state.ring.words[16] = state.ring.head


class Iterator(object):
    """Stands for a loader's iterator that has its batch ready."""
    batch = (FakeTensor(), 1)

    def __next__(self):
        return self.batch


def rows(state):
    """[(hook, a call through it, the same call without it or None)]"""
    from gpuwhy_agent import hooks, tensorflow_hooks, torch_hooks
    from gpuwhy_agent import wire_gen as wire

    class Watched(Iterator):
        __next__ = torch_hooks._wrap_next(Iterator.__next__)

    plain, watched, optimizer = Iterator(), Watched(), Iterator()
    step = torch_hooks._make_step_hook()
    hooks._Steps.refresh_ns = 2**63  # facts are not part of a step's cost
    torch_hooks.job.input_looks = 3
    return [
        ("ring record", lambda: state.ring.write(hooks.SAVE, wire.TYPE_SAVE, 0, 1, 2), None),
        ("command check", hooks.poll_command, None),
        ("loader __next__", lambda: next(watched), lambda: next(plain)),
        ("optimizer step", lambda: step(optimizer, (), {}), None),
        ("Keras train call", tensorflow_hooks.TrainCall(nothing, 1), nothing),
    ]


def nothing():
    pass


def child(calls, ring_only):
    from gpuwhy_agent import core
    fake_torch()
    core.open_ring()
    from gpuwhy_agent import hooks
    state, part = core.state, max(calls // 20, 1)
    table = rows(state)
    print("%-18s %8.0f ns  an empty call, for scale" % ("(nothing)", measure(nothing, part)))
    for spacing in (0, hooks.SPACING_NS):
        hooks.SPACING_NS = spacing
        label = "every call written" if not spacing else "at most 2000 records a second"
        for name, function, base in table[:1] if ring_only else table:
            total = 0.0
            for _ in range(20):
                drain(state)
                total += measure(function, part)
            cost = total / 20 - (measure(base, calls) if base else 0.0)
            print("%-18s %8.0f ns  Python %d.%d.%d  %s" % ((name, cost) + tuple(sys.version_info[:3]) + (label,)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=1000000)
    parser.add_argument("--ring-only", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(args.calls, args.ring_only)
        return
    with tempfile.TemporaryDirectory() as folder:
        agent = os.path.join(folder, "agent")
        subprocess.check_call(["cp", "-r", str(ROOT / "agent"), agent])
        subprocess.check_call([sys.executable, str(ROOT / "tools" / "gen_wire.py"), str(ROOT / "wire" / "schema.json"), "--py",
                               os.path.join(agent, "gpuwhy_agent", "wire_gen.py")])
        environment = dict(os.environ, GPUWHY_SPOOL=folder, PYTHONPATH=agent)
        environment.pop("GPUWHY_DISABLE", None)
        # The agent's folder leaves sys.path, the package stays importable because it is loaded.
        sys.exit(subprocess.call([sys.executable, __file__, "--child", "--calls", str(args.calls)] + ["--ring-only"] * args.ring_only,
                                 env=environment))


if __name__ == "__main__":
    main()
