#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Plays gpuwhy for one job and prints what its CUDA ring held.

usage: ring_dump.py --library LIB [--plan timing:5:1000,sync:8:300] [--trace permanent] [--user UID] -- CMD ARG...

A plan entry is command:seconds-after-start:milliseconds (command: timing, sync, permanent, none, close).
"""

import argparse
import array
import collections
import importlib.util
import json
import mmap
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_wire(folder):
    target = folder / "wire_gen.py"
    subprocess.run(
        [sys.executable, str(ROOT / "tools/gen_wire.py"), str(ROOT / "wire/schema.json"), "--py", str(target)], check=True
    )
    spec = importlib.util.spec_from_file_location("wire_gen", target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Ring:
    def __init__(self, path, wire):
        self.wire, self.name = wire, path.name
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        self.capacity = self.get("<Q", wire.OFFSET_CAPACITY)
        self.records = []

    def get(self, form, offset):
        return struct.unpack_from(form, self.map, offset)[0]

    def put(self, form, offset, value):
        struct.pack_into(form, self.map, offset, value)

    def pump(self):
        wire = self.wire
        self.put("<Q", wire.OFFSET_LEASE_NS, now_ns())
        tail = self.get("<Q", wire.OFFSET_TAIL)
        while True:
            at = wire.HEADER_SIZE + (tail & (self.capacity - 1)) * wire.RECORD_SIZE
            if self.get("<Q", at) != tail + 1:
                break
            self.records.append(self.map[at + 8 : at + wire.RECORD_SIZE])
            tail += 1
        self.put("<Q", wire.OFFSET_TAIL, tail)

    def command(self, name, milliseconds):
        wire = self.wire
        code = {
            "timing": wire.COMMAND_TIMING_WINDOW,
            "sync": wire.COMMAND_SYNC_WINDOW,
            "permanent": wire.COMMAND_PERMANENT,
            "none": wire.COMMAND_NONE,
            "close": wire.COMMAND_CLOSE,
        }[name]
        self.put("<I", wire.OFFSET_COMMAND, code)
        self.put("<I", wire.OFFSET_COMMAND_MS, milliseconds)
        self.put("<I", wire.OFFSET_COMMAND_RECORDS, 0)
        self.put("<I", wire.OFFSET_COMMAND_SEQ, self.get("<I", wire.OFFSET_COMMAND_SEQ) + 1)
        futex_wake(self.map, wire.OFFSET_COMMAND_SEQ)

    def decoded(self, name):
        number = getattr(self.wire, "TYPE_" + name.upper())
        form = getattr(self.wire, "FORMAT_" + name.upper())
        for record in self.records:
            if struct.unpack_from("<H", record, 8)[0] == number:
                yield struct.unpack_from(form, record)


def futex_wake(mapping, offset):
    import ctypes

    libc = ctypes.CDLL(None)
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapping)) + offset
    libc.syscall(202, ctypes.c_void_p(address), 1, 1, None, None, 0)  # SYS_futex on x86-64, FUTEX_WAKE


def texts(ring):
    parts = collections.defaultdict(bytes)
    for _, _, _, _, ident, kind, length, _, _, data in ring.decoded("blob"):
        parts[kind, ident] += data[:length]
    facts, gaps, names = {}, [], {}
    for (kind, ident), text in parts.items():
        if kind == ring.wire.BLOB_KIND_FACTS_JSON:
            facts.update(json.loads(text)["facts"])
        elif kind == ring.wire.BLOB_KIND_GAP_JSON:
            gaps.append(json.loads(text)["why"])
        elif kind == ring.wire.BLOB_KIND_KERNEL_NAME:
            names[ident] = text.decode(errors="replace")
    return facts, gaps, names


def sync_window_is_empty(ring):
    ended = any(r[5] == ring.wire.WINDOW_ACTION_END and r[6] == ring.wire.WINDOW_MODE_SYNC for r in ring.decoded("window"))
    return ended and not any(r[-1] == 1 for r in ring.decoded("api"))


def union_ns(spans):
    total, end = 0, 0
    for start, duration in sorted(spans):
        total += max(0, start + duration - max(start, end))
        end = max(end, start + duration)
    return total


def print_windows(ring, steps):
    kernels = [(r[4], r[5]) for r in ring.decoded("kernel")]
    begun, outside_cut = {}, []
    modes = ["?", "proof", "timing", "sync", "permanent"]
    for record in ring.decoded("window"):
        time_ns, ident, action, mode = record[0], record[4], record[5], record[6]
        if action == ring.wire.WINDOW_ACTION_BEGIN:
            begun[ident] = time_ns
            continue
        begin = begun.get(ident, time_ns)
        inside = [k for k in kernels if begin <= k[0] < time_ns]
        share = union_ns(inside) / max(1, inside[-1][0] + inside[-1][1] - inside[0][0]) if inside else 0
        outside_cut.append((begin, time_ns))
        print(
            f"  {modes[mode]}: {(time_ns - begin) / 1e6:.0f} ms, {record[7]} records, {record[8]} dropped, cost {record[9] / 1e6:.2f} ms, "
            f"status {record[10]}, GPU busy {share:.2f}, steps {step_ms(steps, begin, time_ns)}"
        )
    if steps and outside_cut:
        first, last = outside_cut[0], outside_cut[-1]
        second = outside_cut[1][0] if len(outside_cut) > 1 else steps[-1]
        print(
            f"  step ms (lower quartile): between windows {step_ms(steps, first[1], second)}, "
            f"after the last {step_ms(steps, last[1], steps[-1])}"
        )


def step_ms(steps, begin, end):
    gaps = [(b - a) / 1e6 for a, b in zip(steps, steps[1:]) if begin <= a and b <= end]
    return f"{statistics.quantiles(gaps, n=4)[0]:.3f} ms x{len(gaps)}" if len(gaps) > 8 else "-"


def print_ring(ring, steps):
    states = {value: key[6:].lower() for key, value in vars(ring.wire).items() if key.startswith("STATE_")}
    types = {value: key[5:].lower() for key, value in vars(ring.wire).items() if key.startswith("TYPE_")}
    counts = collections.Counter(types[struct.unpack_from("<H", record, 8)[0]] for record in ring.records)
    facts, gaps, names = texts(ring)
    wire = ring.wire
    print(
        f"  ring {ring.name}: state {states[ring.get('<I', wire.OFFSET_STATE)]}, closed {ring.get('<I', wire.OFFSET_CLOSED)}, "
        f"dropped {ring.get('<Q', wire.OFFSET_DROPPED)}, {dict(counts)}, {len(names)} names"
    )
    print("  facts: " + ", ".join(f"{key[5:]}={value}" for key, value in facts.items()))
    for gap in gaps:
        print("  gap: " + gap)
    print_windows(ring, steps)
    copies = collections.Counter((r[7], r[8], r[9]) for r in ring.decoded("memcpy"))
    graph = sum(r[11] for r in ring.decoded("kernel"))
    calls = collections.Counter((r[7], r[6], r[-1]) for r in ring.decoded("api"))
    sums = list(ring.decoded("kernel_sum"))
    synced = [r[5] / 1e6 for r in ring.decoded("api") if r[-1] == 1]
    if any(r[6] == wire.WINDOW_MODE_SYNC for r in ring.decoded("window")):
        longest = f", {sum(synced):.1f} ms in all, longest {max(synced):.2f} ms" if synced else ""
        print(f"  api records with is_sync 1: {len(synced)}, with is_sync 0: {counts['api'] - len(synced)}{longest}")
    if copies or graph or calls:
        print(
            f"  copies (kind, from, to): {dict(copies)}; kernels in graphs: {graph}; calls (domain, id, sync): {dict(calls.most_common(6))}"
        )
    if sums:
        total = sum(r[7] for r in sums)
        busy, interval = sum(r[9] for r in sums), sum({r[0] // 10**8: r[10] for r in sums}.values())
        print(
            f"  sums: {total} kernels in {len(sums)} records, busy {busy / max(1, interval):.2f} of {interval / 1e9:.1f} s, "
            f"copied {sum(r[11] for r in ring.decoded('memcpy_sum'))} bytes"
        )


def watch(job, spool, wire, plan_text):
    """Drains the rings and gives the commands of the plan until the job ends; the rings by path."""
    rings, start = {}, time.monotonic()
    plan = [(float(at), name, int(ms)) for name, at, ms in (entry.split(":") for entry in plan_text.split(",") if entry)]
    while job.poll() is None:
        for path in spool.glob("*-cu.ring"):
            if path not in rings:
                rings[path] = Ring(path, wire)
                start = time.monotonic()
        for ring in rings.values():
            ring.pump()
        while plan and rings and time.monotonic() - start > plan[0][0]:
            _, name, milliseconds = plan.pop(0)
            for ring in rings.values():
                ring.command(name, milliseconds)
        time.sleep(0.01)
    return rings


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--plan", default="")
    parser.add_argument("--trace", default="window")
    parser.add_argument("--user", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def main():
    args = parse_arguments()
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuwhy-probe-"))
    os.chmod(folder, 0o755)
    wire, spool = load_wire(folder), folder / "spool"
    spool.mkdir(mode=0o700)
    steps_file = spool / "steps"
    env = dict(
        os.environ,
        CUDA_INJECTION64_PATH=args.library,
        GPUWHY_SPOOL=str(spool),
        GPUWHY_TRACE=args.trace,
        STEP_LOG=str(steps_file),
        TRACE_OUT=str(spool / "trace.json"),
    )
    change = None
    if args.user is not None:
        os.chown(spool, args.user, args.user)
        env["HOME"] = str(spool)

        def change():
            os.setgroups([])
            os.setgid(args.user)
            os.setuid(args.user)

    job = subprocess.Popen(command, env=env, preexec_fn=change)
    rings = watch(job, spool, wire, args.plan)
    steps = array.array("Q")
    if steps_file.exists():
        steps.frombytes(steps_file.read_bytes())
    print(f"  exit {job.returncode}, {len(rings)} rings")
    for ring in rings.values():
        ring.pump()
        print_ring(ring, list(steps))
    shutil.rmtree(folder, ignore_errors=True)
    if any(sync_window_is_empty(ring) for ring in rings.values()):
        print("  FAILED: a sync window held no synchronise call of a job that synchronises all the time")
        return 1
    return 0 if job.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
