# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""How the agent gets into an interpreter, and that it leaves it as it was."""
import os
import sys

import pytest
from agent_support import need_version

VERSIONS = ["3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]


def fake_framework(job, name="jax"):
    """A framework stand-in: the name is enough to make the agent open its ring."""
    (job.folder / (name + ".py")).write_text("__version__ = '0.0'\n")


@pytest.mark.parametrize("version", ["2.7"] + VERSIONS)
def test_chains_to_the_users_own(job, version):
    own = job.folder / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys\nsys.stdout.write('own %s\\n' % __file__)\n")
    code = "import sys, sitecustomize; sys.stdout.write(sitecustomize.__file__ + '\\n')"
    done = job.run(need_version(version), "-c", code, PYTHONPATH=str(own))
    plain = job.run(need_version(version), "-c", code, PYTHONPATH=str(own), watched=False)
    # Python 2.7 names the compiled file the second time.
    assert done.stdout.replace(".pyc", ".py") == plain.stdout.replace(".pyc", ".py")
    assert done.stdout.startswith("own ")
    assert done.stderr == ""


@pytest.mark.parametrize("version", ["2.7"] + VERSIONS)
def test_path_is_clean_and_children_still_get_it(job, version):
    code = "import os, sys; sys.stdout.write(repr((sys.path, os.environ['PYTHONPATH'], sorted(sys.path_importer_cache))))"
    done = job.run(need_version(version), "-c", code)
    path, inherited, importers = eval(done.stdout)
    assert str(job.agent) not in path and str(job.agent) not in importers
    assert inherited == str(job.agent)
    plain = job.run(need_version(version), "-c", "import sys; sys.stdout.write(repr(sys.path))", watched=False)
    assert path == eval(plain.stdout)
    assert done.stderr == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_modules_of_a_plain_interpreter(job, version):
    code = "import sys; print(sorted(sys.modules))"
    ours = set(eval(job.run(need_version(version), "-c", code).stdout))
    plain = set(eval(job.run(need_version(version), "-c", code, watched=False).stdout))
    extra = {name for name in ours - plain if not name.startswith("gpuwhy_agent")}
    assert extra <= {"sitecustomize", "atexit", "time"}, "the standard library modules that every start pays for"
    assert job.rings() == [], "a short interpreter without a framework leaves nothing"


def test_error_in_the_users_own_is_reported_as_usual(job):
    own = job.folder / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("raise ValueError('mine')\n")
    done = job.run(sys.executable, "-c", "print(1)", PYTHONPATH=str(own))
    plain = job.run(sys.executable, "-c", "print(1)", PYTHONPATH=str(own), watched=False)
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    assert "mine" in plain.stderr


def test_an_import_error_in_the_users_own_is_not_swallowed(job):
    own = job.folder / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import no_such_module_here\n")
    done = job.run(sys.executable, "-c", "print(1)", PYTHONPATH=str(own))
    assert "no_such_module_here" in done.stderr


@pytest.mark.skipif(not os.path.exists("/usr/lib/python3.11/sitecustomize.py"), reason="no sitecustomize of Debian")
def test_chains_to_debians(job):
    code = "import sitecustomize; print(sitecustomize.__file__)"
    done = job.run("/usr/bin/python3.11", "-c", code)
    assert done.stdout == job.run("/usr/bin/python3.11", "-c", code, watched=False).stdout
    assert str(job.agent) not in done.stdout


@pytest.mark.parametrize("flag", ["-I", "-S", "-E"])
def test_not_loaded_where_python_is_told_so(job, flag):
    done = job.run(sys.executable, flag, "-c", "import sys; print([m for m in sys.modules if 'gpuwhy' in m])")
    assert done.stdout == "[]\n" and done.stderr == ""


@pytest.mark.parametrize("extra", [{"GPUWHY_DISABLE": "1"}, {"GPUWHY_SPOOL": ""}, {"GPUWHY_SPOOL": "/no/such/folder"}])
def test_switched_off(job, extra):
    fake_framework(job)
    code = "import sys, jax; print(type(sys.meta_path[0]).__name__, sys.excepthook is sys.__excepthook__)"
    done = job.run(sys.executable, "-c", code, **extra)
    assert done.stdout == job.run(sys.executable, "-c", code, watched=False).stdout
    assert job.rings() == []


@pytest.mark.parametrize("version", VERSIONS)
def test_ring_and_facts_in_every_version(job, version):
    fake_framework(job)
    job.run(need_version(version), "-c", "import jax")
    ring = job.ring()
    assert ring.header["closed"] == 1 and ring.header["producer"] == 1
    facts = ring.facts()
    assert facts["python.version"].startswith(version + ".")
    assert facts["jax.version"] == "0.0"
    assert oct(ring.path.stat().st_mode & 0o777) == "0o600"


def test_a_broken_import_reads_as_without_the_agent(job):
    (job.folder / "torch.py").write_text("def load():\n    raise OSError('libcudart.so: cannot open')\nload()\n")
    script = job.script("import torch\n")
    done = job.run(sys.executable, script, check=False)
    plain = job.run(sys.executable, script, check=False, watched=False)
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert job.ring().facts()["python.exception"] == "OSError: libcudart.so: cannot open"


def test_a_missing_framework_is_told(job):
    done = job.run(sys.executable, job.script("import torch_not_here\n"), check=False)
    assert done.returncode == 1
    facts = job.ring().facts()
    assert facts["python.exception"] == "ModuleNotFoundError: No module named 'torch_not_here'"
    assert facts["python.argv0"] == "job.py"
    assert job.ring().header["capacity"] == 1024


def test_exception_is_told_where_the_job_has_its_own_hook(job):
    script = job.script("import sys\nsys.excepthook = lambda *a: print('mine', a[1])\nimport jax\nraise RuntimeError('boom')\n")
    fake_framework(job)
    done = job.run(sys.executable, script, check=False)
    assert done.stdout == "mine boom\n" and done.stderr == ""
    assert job.ring().facts()["python.exception"] == "RuntimeError: boom"


def test_loader_of_the_module_is_left_alone(job):
    fake_framework(job)
    code = "import jax, importlib; importlib.reload(jax); print(type(jax.__loader__).__name__, vars(jax.__spec__.loader))"
    done = job.run(sys.executable, "-c", code)
    assert done.stdout == job.run(sys.executable, "-c", code, watched=False).stdout


def test_cupti_folders(job):
    for part, name in (("cu13", "libcupti.so.13"), ("cuda_cupti", "libcupti.so.12"), ("cudnn", "libcudnn.so.9"), ("cublas", "x")):
        folder = job.folder / "packages" / "nvidia" / part / "lib"
        folder.mkdir(parents=True)
        (folder / name).write_text("")
    packages = str(job.folder / "packages")
    done = job.run(sys.executable, "-c", "import os; print(os.environ['GPUWHY_CUPTI_DIRS'], "
                   "os.environ['GPUWHY_AGENT_PID'] == str(os.getpid()))",
                   PYTHONPATH=packages)
    folders, pid = done.stdout.split()
    assert folders.split(":")[:2] == [packages + "/nvidia/cu13/lib", packages + "/nvidia/cuda_cupti/lib"]
    assert pid == "True"


def test_exec_in_the_same_process_gets_a_second_ring(job):
    fake_framework(job)
    again = job.folder / "again.py"
    again.write_text("import jax\n")
    job.run(sys.executable, job.script("import jax, os, sys\nos.execv(sys.executable, [sys.executable, %r])\n" % str(again)))
    rings = job.rings()
    assert len(rings) == 2
    assert len({(ring.header["pid"], ring.header["start_ticks"]) for ring in rings}) == 1
    assert all(ring.path.name.endswith("-py.ring") for ring in rings)


def test_records_survive_a_kill(job):
    fake_framework(job)
    done = job.run(sys.executable, "-c", "import jax, os, signal; os.kill(os.getpid(), signal.SIGKILL)", check=False)
    assert done.returncode == -9
    ring = job.ring()
    assert ring.header["closed"] == 0 and ring.facts()["jax.version"] == "0.0"


def test_syntax_of_the_oldest_versions(job):
    """Python 3.6 compiles everything, 2.7 the one file that it reads."""
    files = [str(path) for path in sorted((job.agent / "gpuwhy_agent").glob("*.py"))]
    job.run(need_version("3.6"), "-W", "error", "-m", "py_compile", *files, watched=False)
    job.run(need_version("2.7"), "-m", "py_compile", str(job.agent / "sitecustomize.py"), watched=False)

