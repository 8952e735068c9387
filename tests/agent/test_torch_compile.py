# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""torch.compile of the newest PyTorch on the CPU: the same graphs as without the agent, its compilations counted and timed."""
from agent_support import need_framework

COMPILED = """
import sys
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))
compiled = torch.compile(model, backend="eager", fullgraph=True)
for _ in range(5):
    optimizer.zero_grad()
    compiled(torch.ones(2, 4)).sum().backward()
    optimizer.step()
@torch.compile(backend="eager")
def step():
    optimizer.step()
step()
step()
import torch._dynamo.utils as utils
print(dict(utils.counters["graph_break"]), utils.counters["stats"]["unique_graphs"])
"""


def test_compile_has_the_same_graphs(job):
    python = need_framework("torch")
    done = job.run(python, job.script(COMPILED))
    plain = job.run(python, job.script(COMPILED), watched=False)
    assert done.stdout == plain.stdout
    assert len(done.stderr.splitlines()) == len(plain.stderr.splitlines()), done.stderr  # lines carry times and pids
    assert job.ring().facts()["torch.compile_used"] is True
    assert job.ring().header["steps"] == 5, "a compiled step cannot be counted from Python"


RECOMPILED = """
import time
import torch
import torch._dynamo
weight = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([weight], lr=0.1)
def loss(x, power):
    return (x * weight.sum()) ** power
torch._dynamo.reset()
compiled = torch.compile(loss, backend="aot_eager", dynamic=False)
begin = time.monotonic_ns()
for power in range(POWERS):
    compiled(torch.ones(2), float(power)).sum().backward()
    optimizer.step()
print(begin, time.monotonic_ns())
"""


def test_recompilations_are_counted_and_timed(job):
    python = need_framework("torch", True)
    done = job.run(python, job.script(RECOMPILED.replace("POWERS", "4")))
    ring = job.ring()
    facts = ring.facts()
    assert facts["torch.compile_used"] is True
    assert facts["torch.dynamo.frames"] >= 4 and facts["torch.dynamo.graphs"] >= 4
    assert facts["torch.dynamo.recompiles"] == facts["torch.dynamo.recompiles_of_one_frame"] == 3, facts
    assert facts["torch.dynamo.given_up"] == 0
    assert facts["torch.dynamo.graph_breaks"] == 0 and facts["torch.dynamo.compile_seconds"] > 0
    begin, end = map(int, done.stdout.split())
    compiled = ring.of("compile")
    assert len(compiled) >= 4 and all(record["flags"] == 3 for record in compiled)
    assert all(begin <= record["start_ns"] <= record["start_ns"] + record["duration_ns"] <= end for record in compiled)
    assert sum(record["duration_ns"] for record in compiled) / 1e9 >= 0.5 * facts["torch.dynamo.compile_seconds"]


def test_a_frame_with_too_many_versions_is_given_up(job):
    done = job.run(need_framework("torch", True), job.script(RECOMPILED.replace("POWERS", "14")))
    assert "recompile_limit" in done.stderr  # torch says so itself
    facts = job.ring().facts()
    assert facts["torch.dynamo.given_up"] >= 1 and facts["torch.dynamo.recompiles_of_one_frame"] >= 7
    assert "agent.error" not in facts and "agent.disabled_reason" not in facts


def test_a_failing_compile_hook_leaves_the_job_alone(job):
    code = RECOMPILED.replace("POWERS", "3").replace("import time\n", """import sys, time, torch
def broken(*_):
    raise RuntimeError("no clock")
sys.modules["gpuwhy_agent.dynamo"].clock = broken
""", 1)
    done = job.run(need_framework("torch", True), job.script(code))
    assert len(done.stdout.split()) == 2
    assert "no clock" in job.ring().facts()["agent.disabled_reason"]
