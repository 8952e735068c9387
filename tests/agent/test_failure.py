# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever breaks in the agent, the job runs on: same output, same status."""
import os
import subprocess
import sys

import pytest
from agent_support import need_framework

TRAIN = """
import torch
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(8, 2)), batch_size=2):
    model(x).sum().backward()
    optimizer.step()
torch.save(model.state_dict(), "model.pt")
print("%.4f" % model(torch.ones(1, 2)).sum().item() == "never")
"""


@pytest.mark.parametrize("module, old, new, told", [
    ("torch_hooks.py", "def _drawn(iterator, data, start, end):", "def _drawn(iterator, data, start, end):\n    1 / 0", "loader hook"),
    ("torch_hooks.py", "def _stepped(optimizer):", "def _stepped(optimizer):\n    1 / 0", "step hook"),
    ("torch_hooks.py", "def _iterator_made(data_loader, iterator, duration):", "def _iterator_made(*_):\n    1 / 0", "loader hook"),
    ("torch_hooks.py", "def patch_dataloader(module):", "def patch_dataloader(module):\n    1 / 0",
     "import of torch.utils.data.dataloader"),
    ("torch_hooks.py", "import functools", "import functools; 1 / 0", "import of torch"),
    ("torch_facts.py", "def _settings(facts):", "def _settings(facts):\n    1 / 0", None),
    ("hooks.py", "    def record(self, start, end, items, evaluation):", "    def record(self, *_):\n        1 / 0", "loader hook"),
    ("ring.py", "def start_ticks():", "def start_ticks():\n    1 / 0", None),
    ("core.py", "def note_exception(kind, value):", "def note_exception(kind, value):\n    1 / 0", None),
    ("core.py", "def install():", "def install():\n    1 / 0", None),
    ("imports.py", "import sys", "import sys; 1 / 0", None),
    ("__init__.py", "VERSION =", "1 / 0\nVERSION =", None),
])
def test_a_fault_anywhere_stays_inside(make_job, module, old, new, told):
    job = make_job()
    path = job.agent / "gpuwhy_agent" / module
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    done = job.run(need_framework("torch", False), job.script(TRAIN))
    assert (done.stdout, done.stderr) == ("False\n", "")
    if told:
        assert job.ring().facts()["agent.disabled_reason"].startswith(told)


def run_fake(job, **options):
    (job.folder / "jax.py").write_text("__version__ = '0.0'\n")
    done = subprocess.run([sys.executable, "-c", "import jax; print('ran')"], env=job.environment(), cwd=job.folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")


def test_spool_not_writable(job):
    os.chmod(job.spool, 0o500)
    try:
        if os.geteuid() == 0:
            (job.folder / "file").write_text("")
            os.rmdir(job.spool)
            os.symlink("/proc/self/fdinfo", job.spool)  # a folder in which even root creates nothing
        run_fake(job)
    finally:
        if not os.path.islink(job.spool):
            os.chmod(job.spool, 0o700)


def test_file_size_limit(job):
    import resource
    run_fake(job, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert job.rings() == [] and list(job.spool.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_disk_full(job):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(job.spool)], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("this container may not mount")
    try:
        run_fake(job)
        assert list(job.spool.iterdir()) == []
    finally:
        subprocess.run(["umount", str(job.spool)], check=True)


@pytest.mark.parametrize("code, status", [
    ("import sys; sys.exit(7)", 7), ("raise SystemExit('bye')", 1), ("import os; os._exit(5)", 5),
    ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15), ("import os; os.abort()", -6), ("1 / 0", 1),
    ("raise KeyboardInterrupt", -2), ("import sys; sys.stdout.write('x'); raise ValueError(chr(0x4e2d))", 1),
    ("try:\n    1 / 0\nexcept Exception as e:\n    raise ValueError('b') from e", 1),
    ("import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start(); t.join()", 0),
    ("def f():\n    f()\nf()", 1),
])
def test_status_and_output_are_the_jobs(job, code, status):
    (job.folder / "jax.py").write_text("__version__ = '0.0'\n")
    script = job.script("import jax\n" + code + "\n")
    done = job.run(sys.executable, script, check=False)
    plain = job.run(sys.executable, script, check=False, watched=False)
    assert done.returncode == plain.returncode == status
    hide = lambda text: __import__("re").sub(r"Thread-\d+|0x[0-9a-f]+", "T", text)  # noqa: E731
    assert (done.stdout, hide(done.stderr)) == (plain.stdout, hide(plain.stderr))
