# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Real PyTorch on the CPU: the distribution's (1.x, built without CUDA) and the newest of the registry (built with CUDA)."""
import os

import pytest
from agent_support import need_framework

TRAIN = """
import os, sys
import torch
from torch.utils.data import DataLoader, TensorDataset
def main(workers):
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(640, 16), torch.randn(640, 1))
    model = torch.nn.Linear(16, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = DataLoader(data, batch_size=30, shuffle=True, num_workers=workers)
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        for x, y in loader:
            model(x)
    torch.save(model.state_dict(), "model.pt")
    print("loss %.6f" % loss.item())
if __name__ == "__main__":
    main(int(sys.argv[1]))
"""

BOTH = pytest.mark.parametrize("newest", [False, True], ids=["distribution", "newest"])


def evaluation(record):
    return record["flags"] & 1


@BOTH
@pytest.mark.parametrize("workers", [0, 2])
def test_training_loop(job, newest, workers):
    python = need_framework("torch", newest)
    done = job.run(python, job.script(TRAIN), workers)
    plain = job.run(python, job.script(TRAIN), workers, watched=False)
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    ring = job.ring()  # workers are forked: they have none
    assert ring.header["steps"] == 44 and ring.header["closed"] == 1 and ring.header["dropped"] == 0
    steps = ring.of("step")
    assert steps[-1]["index"] == 44 and steps[-1]["items"] == 2 * 640
    assert steps[-1]["flags"] >> 8 == 1
    waits = ring.of("wait")
    assert sum(wait["items"] for wait in waits if not evaluation(wait)) == 1280
    assert sum(wait["items"] for wait in waits if evaluation(wait)) == 640
    assert waits[-1]["sequence"] == 66
    assert sum(wait["duration_ns"] for wait in waits if not evaluation(wait)) == steps[-1]["wait_ns"]
    assert len(ring.of("save")) == 1
    facts = ring.facts()
    assert facts["torch.parameters.cpu_bytes"] == 17 * 4 and facts["torch.parameters.cuda_bytes"] == 0
    assert facts["torch.inputs.device"] == "cpu" and facts["torch.batch_size"] == 30
    assert facts["torch.loader.1.workers"] == workers and facts["torch.loader.1.shuffle"] is True
    assert facts["torch.loader.1.length"] == 22 and facts["torch.loader.1.iterators"] == 3
    first = facts["torch.loader.1.first_wait_seconds"]  # three first batches, the evaluation's among them
    assert 0 < first <= facts["torch.loader.1.wait_seconds"]
    assert facts["torch.loader.1.wait_seconds"] == pytest.approx(sum(wait["duration_ns"] for wait in waits) / 1e9, abs=1e-5)
    assert facts["torch.loader.1.iterable"] is False and facts["torch.loader.1.batches"] == 66
    assert facts["torch.optimizer"] == "Adam" and facts["torch.amp"] is False
    assert "agent.error" not in facts and "agent.disabled_reason" not in facts


def test_build_without_cuda(job):
    job.run(need_framework("torch", False), "-c", "import torch")
    facts = job.ring().facts()
    assert facts["torch.cuda_built"] == "" and facts["torch.arch_list"] == []
    assert facts["torch.cuda_available"] is False
    assert facts["torch.cuda_error"] == "Torch not compiled with CUDA enabled"


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="this machine has a GPU")
def test_build_with_cuda_on_a_machine_without(job):
    python = need_framework("torch")
    done = job.run(python, "-c", "import torch; print(torch.cuda.is_available())")
    plain = job.run(python, "-c", "import torch; print(torch.cuda.is_available())", watched=False)
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    facts = job.ring().facts()
    assert facts["torch.cuda_built"] and "sm_90" in facts["torch.arch_list"]
    assert facts["torch.cuda_available"] is False and facts["torch.device_count"] == 0
    assert "NVIDIA driver" in facts["torch.cuda_error"]


@BOTH
@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="this machine has a GPU")
def test_job_dies_in_cuda(job, newest):
    python = need_framework("torch", newest)
    script = job.script("import torch\nmodel = torch.nn.Linear(2, 2).cuda()\n")
    done = job.run(python, script, check=False)
    plain = job.run(python, script, check=False, watched=False)
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    exception = job.ring().facts()["python.exception"]
    assert exception.startswith("RuntimeError: Found no NVIDIA driver" if newest else "AssertionError: Torch not compiled with CUDA")


@BOTH
def test_exception_in_the_loader_reads_the_same(job, newest):
    python = need_framework("torch", newest)
    script = job.script("""
import torch
from torch.utils.data import DataLoader
class Broken(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        raise ValueError("sample %d is broken" % index)
for batch in DataLoader(Broken(), batch_size=2):
    pass
""")
    done = job.run(python, script, check=False)
    plain = job.run(python, script, check=False, watched=False)
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)
    assert job.ring().facts()["python.exception"] == "ValueError: sample 0 is broken"


@BOTH
def test_pickling_and_spawned_workers(job, newest):
    python = need_framework("torch", newest)
    job.run(python, job.script("""
import copy, io, pickle
import torch
from torch.utils.data import DataLoader, TensorDataset
def main():
    assert pickle.loads(pickle.dumps(torch.save)) is torch.save
    loader = DataLoader(TensorDataset(torch.zeros(8, 2)), batch_size=4, num_workers=1, multiprocessing_context="spawn")
    assert len(list(loader)) == 2
    pickle.loads(pickle.dumps(DataLoader(TensorDataset(torch.zeros(8, 2)), batch_size=4)))
    optimizer = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1)
    optimizer.step()
    again = pickle.loads(pickle.dumps(optimizer))
    again.step()
    copy.deepcopy(optimizer).step()
    torch.save({"optimizer": optimizer.state_dict()}, io.BytesIO())
if __name__ == "__main__":
    main()
"""))
    rings = job.rings()
    parents = [ring for ring in rings if ring.header["steps"]]
    assert len(parents) == 1 and parents[0].header["steps"] == 3
    children = [ring for ring in rings if not ring.header["steps"] and "torch.version" in ring.facts()]
    assert len(children) == 1, "a spawned worker is a process of its own"
    assert children[0].of("wait") == [] and children[0].facts()["torch.version"]


def test_iterable_dataset_and_dictionaries(job):
    python = need_framework("torch")
    job.run(python, job.script("""
import torch
from torch.utils.data import DataLoader, IterableDataset
class Stream(IterableDataset):
    def __len__(self):
        raise SystemExit("the agent must not ask")
    def __iter__(self):
        return iter([{"image": torch.zeros(3), "label": 1}] * 10)
count = sum(batch["image"].shape[0] for batch in DataLoader(Stream(), batch_size=4))
assert count == 10
"""))
    ring = job.ring()
    assert sum(wait["items"] for wait in ring.of("wait")) == 10
    assert ring.facts()["torch.loader.1.iterable"] is True
    assert "torch.loader.1.length" in ring.states()
    assert ring.facts()["torch.parameters.count"] == 0


def test_inference_without_a_step(job):
    python = need_framework("torch")
    job.run(python, job.script("""
import torch, os, signal
from torch.utils.data import DataLoader, TensorDataset
model = torch.nn.Linear(4, 4)
with torch.inference_mode():
    for x, in DataLoader(TensorDataset(torch.zeros(80, 4)), batch_size=2):
        model(x)
os.kill(os.getpid(), signal.SIGKILL)
"""), check=False)
    ring = job.ring()
    assert ring.header["steps"] == 0 and all(evaluation(wait) for wait in ring.of("wait"))
    facts = ring.facts()
    assert facts["torch.parameters.count"] == 2 and facts["torch.parameters.cpu_bytes"] == 80


@BOTH
def test_mixed_precision_and_flags(job, newest):
    python = need_framework("torch", newest)
    job.run(python, job.script("""
import torch
torch.backends.cudnn.benchmark = True
torch.backends.cuda.matmul.allow_tf32 = True
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.zeros(2, 4)).float().sum()
    loss.backward()
    optimizer.step()
with torch.autograd.set_detect_anomaly(True):
    optimizer.step()
"""))
    facts = job.ring().facts()
    assert facts["torch.amp"] is True and facts["torch.amp.dtype"] == "bfloat16" and facts["torch.amp.device"] == "cpu"
    assert facts["torch.cudnn_benchmark"] is True and facts["torch.tf32.matmul"] is True


@BOTH
def test_profilers_are_told_and_work(job, newest):
    python = need_framework("torch", newest)
    done = job.run(python, job.script("""
import torch
from torch.profiler import profile, ProfilerActivity, schedule
x = torch.ones(8, 8)
with profile(activities=[ProfilerActivity.CPU]) as p:
    x @ x
assert any("mm" in event.key for event in p.key_averages())
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=1)) as p:
    for _ in range(4):
        x @ x
        p.step()
with torch.autograd.profiler.profile() as q:
    x @ x
with torch.autograd.profiler.profile(enabled=False):
    x @ x
print(len(q.function_events) > 0)
"""))
    assert done.stdout == "True\n"
    ring = job.ring()
    names = dict(ring.blobs("frame_name"))
    told = [(record["action"], names[record["id"]]) for record in ring.of("profiler")]
    assert told == [(1, "torch.profiler"), (2, "torch.profiler")] * 2 + [(1, "torch.autograd.profiler"), (2, "torch.autograd.profiler")]


def test_nothing_is_imported_for_the_job(job):
    python = need_framework("torch")
    code = job.script("import torch, sys\n"
                      "torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)\n"
                      "print(sorted(m for m in sys.modules if m.partition('.')[0] in "
                      "('torch', 'numpy', 'jax', 'tensorflow', 'keras', 'triton')))")
    assert job.run(python, code).stdout == job.run(python, code, watched=False).stdout


def test_two_optimizers_are_told_apart(job):
    python = need_framework("torch")
    job.run(python, job.script("""
import torch
a, b = (torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1) for _ in range(2))
import time
for _ in range(3):
    a.step(); time.sleep(0.002); b.step(); time.sleep(0.002)
"""))
    ring = job.ring()
    assert [record["flags"] >> 8 for record in ring.of("step")] == [1, 2] * 3
    assert ring.facts()["torch.optimizers"] == 2


KILLED = """
import os, signal, sys, time
import torch
from torch.utils.data import DataLoader, TensorDataset
sys.modules["gpuwhy_agent.hooks"]._Steps.interval_ns = 10**9 // 4
def main():
    weight = torch.nn.Parameter(torch.zeros(4))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    loader = DataLoader(TensorDataset(torch.zeros(8, 4)), batch_size=2, num_workers=1)
    for _ in range(20):
        for x, in loader:
            (x * weight).sum().backward()
            optimizer.step()
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    main()
"""


@BOTH
def test_restarts_of_workers_are_known_of_a_killed_job(job, newest):
    job.run(need_framework("torch", newest), job.script(KILLED), check=False)
    facts = job.ring().facts()
    assert 3 <= facts["torch.loader.1.iterators"] <= 20
    assert 0 < facts["torch.loader.1.start_seconds"]
    assert 0 < facts["torch.loader.1.first_wait_seconds"] < facts["torch.loader.1.wait_seconds"]


MEMORY = """
import sys, time
import torch
hooks = sys.modules["gpuwhy_agent.hooks"]
grown = [0]
def allocator():
    grown[0] += 1000
    return 0, grown[0], 5000, None, 2
def broken():
    raise RuntimeError("no such allocator")
hooks.memory_readers[:] = [allocator, broken]
weight = torch.nn.Parameter(torch.zeros(4))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(12):
    weight.sum().backward()
    optimizer.step()
    time.sleep(0.2)
"""


@BOTH
def test_memory_is_looked_at_once_a_second(job, newest):
    job.run(need_framework("torch", newest), job.script(MEMORY))
    ring = job.ring()
    looks = ring.of("memory")
    assert 2 <= len(looks) <= 4  # 2.4 s of steps
    assert [look["allocated"] for look in looks] == [1000 * (each + 1) for each in range(len(looks))]
    assert looks[0]["step"] == 1 and looks[-1]["step"] > 6
    assert looks[0]["device_allocs"] == 2**64 - 1 and looks[0]["retries"] == 2 and looks[0]["reserved"] == 5000
    assert "no such allocator" in ring.facts()["agent.error"]  # asked once, and the job went on
    assert ring.header["steps"] == 12
