#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the Python agent on a machine with a GPU and checks what cannot be checked without one. Under two minutes.

usage: agent_probe.py [--jax]      one line a check: ok / FAIL, then the facts that only a GPU has; status 1 if a check failed
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "agent"))
import ring_reader  # noqa: E402

TRAIN = """
import os, torch
from torch.utils.data import DataLoader, TensorDataset
def maps():
    return "libcuda.so" in open("/proc/self/maps").read()
def main():
    where = os.environ["PROBE_DEVICE"]
    data = TensorDataset(torch.randn(3200, 256), torch.randn(3200, 1))
    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)], torch.nn.Linear(256, 1)).to(where)
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(data, batch_size=64, num_workers=2, pin_memory=where == "cuda", shuffle=True)
    for _ in range(4):
        for x, y in loader:
            with torch.autocast(where, dtype=torch.bfloat16):
                loss = ((model(x.to(where, non_blocking=True)) - y.to(where)) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("libcuda mapped at the end:", maps())
if __name__ == "__main__":
    main()
"""
COST = """
import os, time, torch
layers = []
for _ in range(20):
    layers += [torch.nn.Linear(256, 256), torch.nn.LayerNorm(256), torch.nn.ReLU()]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(64, 256, device="cuda")
def block(steps):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / steps * 1e3
block(50)
times = sorted(block(50) for _ in range(20))
print("%.4f" % times[5])
"""
JAX = """
import jax, jax.numpy as jnp
step = jax.jit(lambda x: (x @ x).sum())
print(float(step(jnp.ones((512, 512)))))
"""


class Probe:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.failed = 0
        self.agent = self.folder / "agent"
        subprocess.check_call(["cp", "-r", str(ROOT / "agent"), str(self.agent)])
        subprocess.check_call([sys.executable, str(ROOT / "tools" / "gen_wire.py"), str(ROOT / "wire" / "schema.json"), "--py",
                               str(self.agent / "gpuwhy_agent" / "wire_gen.py")])

    def run(self, name, code, watched=True, **extra):
        """(output, ring or None) of one job; its spool is its own."""
        spool = self.folder / ("spool-" + name)
        spool.mkdir()
        script = self.folder / (name + ".py")
        script.write_text(code)
        environment = dict(os.environ, **extra)
        if watched:
            environment.update(GPUWHY_SPOOL=str(spool), PYTHONPATH=str(self.agent))
        done = subprocess.run([sys.executable, str(script)], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
        if done.returncode:
            print(done.stdout[-1500:])
        self.check(name + " ends with 0", done.returncode == 0, done.returncode)
        rings = [ring for ring in ring_reader.rings(spool) if ring.facts()]
        return done.stdout.strip(), rings[0] if len(rings) == 1 else None

    def check(self, what, passed, got=""):
        self.failed += not passed
        print("%-4s %s%s" % ("ok" if passed else "FAIL", what, "" if passed else "  got: %r" % (got,)))


def check_cuda(probe):
    _, ring = probe.run("cuda", TRAIN, PROBE_DEVICE="cuda")
    facts = ring.facts()
    get = facts.get
    probe.check("200 steps", ring.header["steps"] == 200, ring.header["steps"])
    probe.check("cuda initialised and available", get("torch.cuda_initialized") and get("torch.cuda_available"))
    probe.check("parameters on the GPU", get("torch.parameters.cuda_bytes", 0) > 10**6 and get("torch.parameters.cpu_bytes") == 0,
                get("torch.parameters.cuda_bytes"))
    probe.check("inputs pinned on the CPU", get("torch.inputs.device") == "cpu" and get("torch.inputs.pinned") is True,
                get("torch.inputs.pinned"))
    probe.check("amp bfloat16", get("torch.amp.dtype") == "bfloat16", get("torch.amp.dtype"))
    probe.check("uuid and bus id", str(get("torch.device.0.uuid")).startswith("GPU-") and get("torch.device.0.pci_bus_id"),
                get("torch.device.0.pci_bus_id"))
    probe.check("memory in use and its limit", get("torch.memory.0.max_allocated_bytes", 0) > 10**6 and get("torch.memory.0.limit_bytes",
                0) > 10**9)
    probe.check("no error of the agent", "agent.error" not in facts and "agent.disabled_reason" not in facts, get("agent.error"))
    for name in sorted(facts):
        if name.startswith(("torch.device.0", "torch.memory.0", "torch.cu", "torch.tf32", "torch.inputs", "agent.")):
            print("     ", name, facts[name])
    print("      states", ring.states())


def check_cpu(probe):
    output, ring = probe.run("cpu", TRAIN, PROBE_DEVICE="cpu")
    facts, states = ring.facts(), ring.states()
    probe.check("a CPU job stays without the driver: libcuda is not mapped", output.endswith("False"), output)
    probe.check("parameters on the CPU", facts.get("torch.parameters.cuda_bytes") == 0)
    probe.check("not initialised, availability unknown",
                facts.get("torch.cuda_initialized") is False and "torch.cuda_available" in states, states)
    _, ring = probe.run("asked", "import torch\nprint(torch.cuda.is_available())\n")
    probe.check("available where the job asked itself", ring.facts().get("torch.cuda_available") is True,
                ring.facts().get("torch.cuda_available"))
    _, ring = probe.run("hidden", "import torch\nprint(torch.cuda.is_available())\n", CUDA_VISIBLE_DEVICES="")
    probe.check("hidden by the environment", ring.facts().get("torch.cuda_available") is False, ring.facts().get("torch.cuda_available"))


def check_cost(probe):
    times = {True: [], False: []}
    for index, watched in enumerate((False, True, True, False)):
        output, _ = probe.run("cost%d" % index, COST, watched=watched)
        times[watched].append(float(output.split()[-1]))
    print("      ms a step, 20-layer MLP, lower quartile of 20 blocks: without", times[False], "with", times[True])


def check_jax(probe):
    _, ring = probe.run("jax", JAX)
    facts = ring.facts()
    probe.check("jax on the GPU", facts.get("jax.backend") in ("gpu", "cuda"), facts.get("jax.backend"))
    probe.check("jax memory", any(name.startswith("jax.memory.0.") for name in facts))
    for name in sorted(facts):
        if name.startswith(("jax", "agent.")):
            print("     ", name, facts[name])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jax", action="store_true", help="JAX too, if this interpreter has it")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        probe = Probe(folder)
        for check in (check_cuda, check_cpu, check_cost) + ((check_jax,) if args.jax else ()):
            try:
                check(probe)
            except Exception as error:  # one broken check must not hide the others
                probe.check(check.__name__, False, "%s: %s" % (type(error).__name__, error))
        print("%d failed" % probe.failed)
        return 1 if probe.failed else 0


if __name__ == "__main__":
    sys.exit(main())
