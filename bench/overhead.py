#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""What a default `gpuwhy run` costs a training, on a machine with a GPU.

usage: overhead.py GPUWHY [--seconds 60] [--workloads mlp,resnet-resident-32,resnet-resident] [--modes default] [--out FILE]

Processes drift by 20 %, so: A B B A (plain, watched, watched, plain; with more modes A B C C B A), pinned to the same cores;
each process notes the time of every 50th step after a synchronisation; the lower quartile of these blocks outside gpuwhy's
windows is compared, with a 95 % interval from a bootstrap over blocks. A watched run counts only if its window holds kernels
and its verdict is "yes".

modes: default; permanent (gpuwhy traces every kernel); profiler (PyTorch's own, without gpuwhy); user (default, all arms as an
ordinary user); late (the window opens after 0.4 of the time, and the blocks before it are compared with those behind it).
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
    """Borders of all windows in seconds of CLOCK_MONOTONIC, and how many kernels lie in them."""
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


class Blocks:
    """Durations of blocks of 50 steps, without warm-up; those that touch a window (and the detach behind it) come apart."""

    def __init__(self, marks=(), borders=()):
        self.before, self.inside, self.after = [], [], []
        # The proof window lies at the first launches: only what comes after warm-up splits the run.
        late = [border for border in borders if marks and border[1] > marks[WARM_UP_BLOCKS][1]]
        for (_, begin), (_, end) in zip(marks[WARM_UP_BLOCKS:], marks[WARM_UP_BLOCKS + 1 :]):
            if any(begin < high + 0.3 and low - 0.1 < end for low, high in borders):
                self.inside.append(end - begin)
            elif late and begin > late[0][0]:
                self.after.append(end - begin)
            else:
                self.before.append(end - begin)

    @property
    def outside(self):
        return self.before + self.after


def command_of(gpuwhy, job, mode, session, report):
    if mode == "plain":
        return job
    if mode == "profiler":
        return [*job, "--profiler"]
    extra = ["--trace", "permanent"] if mode == "permanent" else []
    return [gpuwhy, "run", "--session", str(session), "--json", "-q", "-o", str(report), *extra, "--", *job]


def run(args, workload, mode, as_user):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o777)
        marks, session, report = folder / "marks.json", folder / "s.gpuwhy", folder / "r.json"
        job = [sys.executable, JOBS, workload, "--seconds", str(args.seconds), "--blocks", str(marks)]
        command = command_of(args.gpuwhy, job, mode, session, report)
        environment = dict(os.environ)
        if mode == "late":
            environment["GPUWHY_WINDOW_AFTER"] = str(args.seconds * 0.4 + 8)
        if as_user:
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
            environment.update(HOME=str(folder), TMPDIR=str(folder), XDG_STATE_HOME=str(folder))
        done = subprocess.run(
            ["taskset", "-c", args.cores, *command],
            env=environment,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=args.seconds * 3 + 60,
        )
        if done.returncode:
            raise RuntimeError(f"{workload} {mode}: exit {done.returncode}: {done.stderr[-500:].decode(errors='replace')}")
        times = json.loads(marks.read_text())
        if mode in ("plain", "profiler"):
            return Blocks(times), {}
        borders, kernels = window_borders(session)
        verdict = json.loads(report.read_text())
        values = {name: metric["value"] for name, metric in verdict["metrics"].items()}
        facts = {
            "kernels": kernels or values.get("window.kernels.count") or 0,
            "verdict": verdict["verdict"]["gpu_used"],
            "cause": verdict["verdict"]["cause"],
            "windows": len(borders),
            "cost_s": values.get("window.cost.seconds"),
            "hook_s": values.get("agent.hook.seconds_per_step"),
        }
        return Blocks(times, borders), facts


def compare(plain, watched):
    """Ratio of lower quartiles and the half-width of its 95 % interval."""
    ratio = quartile(watched) / quartile(plain)
    draws = sorted(
        quartile(random.choices(watched, k=len(watched))) / quartile(random.choices(plain, k=len(plain))) for _ in range(ROUNDS)
    )
    low, high = draws[int(0.025 * ROUNDS)], draws[int(0.975 * ROUNDS) - 1]
    return ratio, low, high


def row_of(workload, mode, plain, watched, inside, facts):
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


def measure(args, workload, modes):
    """Lines of the table: one workload in all modes, there and back."""
    seen = {}
    for arm in ["plain", *modes, *reversed(modes), "plain"]:
        blocks, facts = run(args, workload, "default" if arm == "user" else arm, "user" in modes)
        seen.setdefault(arm, []).append((blocks, facts))
    plain = [block for blocks, _ in seen["plain"] for block in blocks.outside]
    for mode in modes:
        facts = [facts for _, facts in seen[mode] if facts]
        before = [block for blocks, _ in seen[mode] for block in blocks.before]
        after = [block for blocks, _ in seen[mode] for block in blocks.after]
        inside = [block for blocks, _ in seen[mode] for block in blocks.inside]
        yield row_of(workload, mode, plain, before + after, inside, facts)
        if mode == "late" and before and after:
            yield row_of(workload, "late: behind/before", before, after, inside, facts)
        elif facts and after:
            yield row_of(workload, mode + ": behind the window", plain, after, inside, facts)


def show(row):
    interval = f"{row['ratio']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"
    mark = "" if row["valid"] else " NOT VALID"
    print(f"{row['workload']:20} {row['mode']:22} ratio {interval} blocks {row['blocks']} step {row['step_s'] * 1e3:.3f} ms{mark}")
    print(f"    lost in windows {row['lost_s_a_run']:.3f} s a run; {row['runs']}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpuwhy", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workloads", default="mlp,resnet-resident-32,resnet-resident")
    parser.add_argument("--modes", default="default")
    parser.add_argument("--cores", default=f"0-{min(7, (os.cpu_count() or 2) - 1)}")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    random.seed(1)
    results = []
    for workload in args.workloads.split(","):
        for row in measure(args, workload, args.modes.split(",")):
            results.append(row)
            show(row)
            if args.out:
                args.out.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
