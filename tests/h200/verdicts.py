#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the planted jobs of jobs.py under gpuwhy on a machine with a GPU and compares the verdicts.

usage: verdicts.py GPUWHY OUT_FOLDER [--only NAME,NAME+NAME] [--seconds S]     (names joined by + run side by side)
Leaves each session (NAME.gpuwhy), each report (NAME.json) and a table on stdout; exits 1 unless all verdicts are right.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
JOBS = str(HERE / "jobs.py")
# name: (arguments of jobs.py or a command, environment, gpu_used accepted, causes accepted)
SHOWN = (
    "input.wait.ratio",
    "input.exposed.ratio",
    "input.overlapped.ratio",
    "run.gpu_busy.ratio",
    "run.duty_cycle.ratio",
    "window.kernels.count",
    "window.cost.seconds",
    "window.sync.ratio",
    "run.steps.count",
    "run.step.seconds",
)
WANTED = {
    "resnet-workers-0": (["resnet-workers-0", "--seconds", "24"], {}, {"yes"}, {"input-pipeline-bound"}),
    "resnet-workers-16": (["resnet-workers-16", "--seconds", "20"], {}, {"yes"}, {"input-pipeline-bound", "gpu-in-use"}),
    "resnet-resident": (["resnet-resident"], {}, {"yes"}, {"gpu-in-use"}),
    "mlp": (["mlp"], {}, {"yes"}, {"launch-bound-small-kernels"}),
    "item": (["item"], {}, {"yes"}, {"frequent-sync"}),
    "pageable": (["pageable"], {}, {"yes"}, {"pageable-copies"}),
    "cpu-model": (["cpu-model", "--seconds", "12"], {}, {"no"}, {"code-runs-on-cpu"}),
    "hidden": (["mlp", "--seconds", "12"], {"CUDA_VISIBLE_DEVICES": ""}, {"no"}, {"device-hidden-by-env"}),
    "hidden-cpu": (["cpu-model", "--seconds", "12"], {"CUDA_VISIBLE_DEVICES": ""}, {"no"}, {"device-hidden-by-env"}),
    "sleep": (["sleep", "--seconds", "25"], {}, {"unknown", "no"}, {"gpu-allocated-but-idle"}),
    "contention": (["contention"], {}, {"yes"}, {"gpu-contention"}),
    "profiled": (["profiled"], {}, {"yes"}, {"gpu-in-use", "launch-bound-small-kernels"}),
    "graph": (["graph"], {}, {"yes"}, {"gpu-in-use", "launch-bound-small-kernels"}),
    "jax": (["jax"], {}, {"yes"}, {"gpu-in-use", "launch-bound-small-kernels"}),
    "cpp": (None, {}, {"yes"}, {"gpu-in-use", "launch-bound-small-kernels", "frequent-sync", "pageable-copies"}),
}


def command_of(name, seconds):
    arguments = WANTED[name][0]
    if arguments is None:
        return [os.environ.get("GPUWHY_SAXPY", "saxpy_loop"), str(int(seconds))]
    more = [] if "--seconds" in arguments else ["--seconds", str(seconds)]
    return [sys.executable, JOBS, *arguments, *more]


def describe(name, report, own, done, session, took):
    """Lines about one run: verdict, the job's own measures, the report's, findings."""
    verdict = report["verdict"]
    values = {key: report["metrics"][key]["value"] for key in SHOWN if key in report["metrics"]}
    shown = {key: round(value, 4) for key, value in values.items() if value is not None}
    breakdown = report["breakdown"] and {key: round(value, 3) for key, value in report["breakdown"].items()}
    findings = [(f["cause"], f["severity"], f["share_of_time"] and round(f["share_of_time"], 3)) for f in report["findings"]]
    yield f"{name}: {verdict['gpu_used']} {verdict['cause']} {verdict['confidence']} exit {done.returncode} {took:.0f} s"
    yield f"     session {session.stat().st_size // 1024} kB, own {own}"
    yield f"     {shown}"
    yield f"     breakdown {breakdown}"
    yield f"     findings {findings}"


def complain(report, done):
    for witness in report["witnesses"]:
        yield f"     witness {witness['name']} {witness['gpu_used']} {witness['says'][:150]}"
    yield f"     gaps {[(gap['what'], gap['why'][:120]) for gap in report['gaps']][:6]}"
    yield f"     stderr {done.stderr[-700:]}"


def run_one(gpuwhy, out, name, seconds):
    _, environment, used, causes = WANTED[name]
    session, report_file = out / f"{name}.gpuwhy", out / f"{name}.json"
    started = time.time()
    burn = [sys.executable, JOBS, "burn", "--seconds", "90"]
    other = subprocess.Popen(burn, stdout=subprocess.DEVNULL) if name == "contention" else None
    watched = [gpuwhy, "run", "--session", str(session), "--format", "json", "-q", "-o", str(report_file), "--", *command_of(name, seconds)]
    done = subprocess.run(watched, env={**os.environ, **environment}, capture_output=True, text=True, timeout=180, check=False)
    if other is not None:
        other.kill()
    own = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            own = json.loads(line)
    try:
        report = json.loads(report_file.read_text())
    except (OSError, ValueError) as error:
        print(f"{name}: no report ({error}); exit {done.returncode}; {done.stderr[-300:]}")
        return False
    verdict = report["verdict"]
    right = verdict["gpu_used"] in used and verdict["cause"] in causes and done.returncode == 0
    lines = list(describe(name, report, own, done, session, time.time() - started))
    lines += [] if right else complain(report, done)
    print(("ok   " if right else "BAD  ") + "\n".join(lines), flush=True)
    return right


def attempt(args, name):
    try:
        return run_one(args.gpuwhy, args.out, name, args.seconds)
    except (subprocess.TimeoutExpired, OSError) as error:
        print(f"BAD  {name}: {error}")
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpuwhy")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=16)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    groups = [group.split("+") for group in args.only.split(",") if group] or [[name] for name in WANTED]
    right = total = 0
    for group in groups:
        total += len(group)
        with concurrent.futures.ThreadPoolExecutor(len(group)) as pool:
            right += sum(pool.map(lambda name: attempt(args, name), group))
    print(f"{right} of {total} verdicts right")
    return 0 if right == total else 1


if __name__ == "__main__":
    sys.exit(main())
