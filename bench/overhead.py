#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""What a default `gpuwhy run` costs a training, on a machine with a GPU.

usage: overhead.py GPUWHY [--seconds 60] [--workloads mlp,resnet-resident-32,resnet-resident] [--modes default] [--out FILE]

Processes drift by 20 %, so: A B B A (plain, watched, watched, plain), pinned to the same cores; each process notes the time
of every 50th step after a synchronisation; the lower quartile of these blocks outside gpuwhy's windows is compared, with a
95 % interval from a bootstrap over blocks. A watched run counts only if its window holds kernels and its verdict is "yes".
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

JOBS = str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "h200" / "jobs.py")
WARM_UP_BLOCKS = 2
ROUNDS = 2000


def quartile(values):
    ordered = sorted(values)
    return ordered[max(0, (len(ordered) - 1) // 4)]


def window_borders(session):
    """Borders of all windows in seconds of CLOCK_MONOTONIC, and how many kernels lie in the timing windows."""
    start = 0
    borders, kernels = [], 0
    for line in session.read_text(errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        start = record.get("monotonic_ns", start)
        if record.get("k") != "spans":
            continue
        at = 0
        for row in record["rows"]:
            at += row[0]
            if record["kind"] == 10:
                borders.append(((start + at) * 1e-9, (start + at + row[1]) * 1e-9))
            elif record["kind"] == 0:
                kernels += 1
    return borders, kernels


def blocks_of(marks, borders):
    """Durations of blocks, without warm-up; those that touch a window (and the detach behind it) come apart."""
    outside, inside = [], []
    for (_, begin), (_, end) in zip(marks[WARM_UP_BLOCKS:], marks[WARM_UP_BLOCKS + 1 :]):
        touched = any(begin < high + 0.3 and low - 0.1 < end for low, high in borders)
        (inside if touched else outside).append(end - begin)
    return outside, inside


def run(gpuwhy, workload, mode, seconds, cores):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        marks, session, report = folder / "marks.json", folder / "s.gpuwhy", folder / "r.json"
        command = [sys.executable, JOBS, workload, "--seconds", str(seconds), "--blocks", str(marks)]
        if mode != "plain":
            extra = ["--trace", "permanent"] if mode == "permanent" else []
            command = [gpuwhy, "run", "--session", str(session), "--json", "-q", "-o", str(report), *extra, "--", *command]
        subprocess.run(
            ["taskset", "-c", cores, *command],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds * 3 + 60,
        )
        times = json.loads(marks.read_text())
        if mode == "plain":
            return blocks_of(times, [])[0], [], {}
        borders, kernels = window_borders(session)
        verdict = json.loads(report.read_text())
        values = {name: metric["value"] for name, metric in verdict["metrics"].items()}
        facts = {
            "kernels": kernels,
            "verdict": verdict["verdict"]["gpu_used"],
            "cause": verdict["verdict"]["cause"],
            "windows": len(borders),
            "cost_s": values.get("window.cost.seconds"),
            "hook_s": values.get("agent.hook.seconds_per_step"),
        }
        outside, inside = blocks_of(times, borders)
        return outside, inside, facts


def compare(plain, watched):
    """Ratio of lower quartiles and the half-width of its 95 % interval."""
    ratio = quartile(watched) / quartile(plain)
    draws = sorted(
        quartile(random.choices(watched, k=len(watched))) / quartile(random.choices(plain, k=len(plain))) for _ in range(ROUNDS)
    )
    low, high = draws[int(0.025 * ROUNDS)], draws[int(0.975 * ROUNDS) - 1]
    return ratio, low, high


def measure(args, workload, mode):
    """One line of the table: A B B A of one workload."""
    plain, watched, inside, facts = [], [], [], []
    for arm in ("plain", mode, mode, "plain"):
        outside, touched, seen = run(args.gpuwhy, workload, arm, args.seconds, args.cores)
        (plain if arm == "plain" else watched).extend(outside)
        inside += touched
        facts += [seen] if seen else []
    ratio, low, high = compare(plain, watched)
    lost = sum(max(0.0, block - statistics.median(watched)) for block in inside) / max(1, len(facts))
    return {
        "workload": workload,
        "mode": mode,
        "ratio": ratio,
        "low": low,
        "high": high,
        "blocks": [len(plain), len(watched)],
        "step_s": quartile(plain) / 50,
        "in_window_blocks": len(inside),
        "lost_s_a_run": lost,
        "valid": all(fact["kernels"] > 0 and fact["verdict"] == "yes" for fact in facts),
        "runs": facts,
    }


def show(row):
    interval = f"{row['ratio']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"
    mark = "" if row["valid"] else " NOT VALID"
    print(f"{row['workload']:20} {row['mode']:10} ratio {interval} blocks {row['blocks']} step {row['step_s'] * 1e3:.3f} ms{mark}")
    print(f"    lost in windows {row['lost_s_a_run']:.3f} s a run; {row['runs']}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpuwhy")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workloads", default="mlp,resnet-resident-32,resnet-resident")
    parser.add_argument("--modes", default="default")
    parser.add_argument("--cores", default=f"0-{min(7, (os.cpu_count() or 2) - 1)}")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    random.seed(1)
    results = []
    for workload in args.workloads.split(","):
        for mode in args.modes.split(","):
            results.append(measure(args, workload, mode))
            show(results[-1])
            if args.out:
                args.out.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
