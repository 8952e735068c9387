# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""gpuwhy doctor on faked machines: the checklist, its verdict, and what --share may not tell."""

import getpass
import os
import pathlib
import re
import shutil
import socket
import sys

import pytest

from machine_support import BINARY, READINGS, ROOTS, causes, gpuwhy, machine, one_line, valid

if not BINARY.exists():
    pytest.skip(f"SKIPPED: {BINARY} is not built (make build, or set GPUWHY_BIN)", allow_module_level=True)

TORCH = """__version__ = '{version}'
cuda = {cuda}
"""


@pytest.fixture(name="python")
def fixture_python(tmp_path):
    """Makes an interpreter of its own whose packages are only what the test writes."""

    def make(name="project of anna", version="2.9.0+cpu", cuda="None"):
        folder = tmp_path / name
        site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        (site / "torch").mkdir(parents=True)
        (site / "torch" / "__init__.py").write_text("raise ImportError('nobody may import this')\n")
        (site / "torch" / "version.py").write_text(TORCH.format(version=version, cuda=cuda))
        (site / f"torch-{version.partition('+')[0]}.dist-info").mkdir()
        (folder / "bin").mkdir()
        (folder / "pyvenv.cfg").write_text(f"home = {pathlib.Path(sys.executable).resolve().parent}\n")
        (folder / "bin" / "python").symlink_to(pathlib.Path(sys.executable).resolve())
        return folder / "bin" / "python"

    return make


def test_a_healthy_machine(python):
    interpreter = python(version="2.9.0", cuda="'12.8'")
    environment = machine("healthy_h200", "h200_idle.txt")
    result = gpuwhy("doctor", "--python", interpreter, environment=environment)
    text = one_line(result.stdout)
    for word in (
        "NVIDIA H200",
        "nvidia is loaded, version 580.159.04",
        "/dev/nvidia0",
        "libcuda.so.1",
        "CUDA up to 13.0",
        "/usr/bin/nvidia-smi",
        "2.9.0, built for CUDA 12.8",
    ):
        assert word in text, word
    assert "No job was watched" in text and "gpuwhy run -- python train.py" in text
    document = valid(gpuwhy("doctor", "--python", interpreter, "--json", environment=environment).stdout)
    assert document["verdict"]["gpu_used"] == "unknown" and document["verdict"]["next"] == "gpuwhy run -- python train.py"
    assert not {"driver-missing", "no-gpu-present", "gpu-contention", "insufficient-evidence"} & set(causes(document))
    assert document["subject"]["gpus"][0]["name"] == "NVIDIA H200"


@pytest.mark.parametrize(
    "root, readings, cause",
    [
        ("no_gpu", None, "no-gpu-present"),
        ("no_module", None, "driver-missing"),
        ("not_loaded", "driver_not_loaded.txt", "driver-not-loaded"),
        ("mismatch", "version_mismatch.txt", "driver-library-mismatch"),
    ],
)
def test_a_machine_that_cannot(root, readings, cause):
    environment = machine(root, readings)
    document = valid(gpuwhy("doctor", "--json", environment=environment).stdout)
    assert document["verdict"]["gpu_used"] == "no" and document["verdict"]["cause"] == cause and causes(document)[0] == cause
    result = gpuwhy("doctor", environment=environment)
    assert result.returncode == 1 and "no program can use an NVIDIA GPU" in one_line(result.stdout) and "[bad]" in result.stdout
    assert "this job" not in result.stdout.lower()


def test_a_gpu_that_is_split_into_nothing(tmp_path):
    whole = (READINGS / "mig.txt").read_text(encoding="utf-8")
    empty = tmp_path / "empty.txt"
    empty.write_text(whole[: whole.index("[mig]")], encoding="utf-8")
    document = valid(gpuwhy("doctor", "--json", environment=machine("healthy_h200", empty)).stdout)
    assert "mig-no-instance" in causes(document)
    document = valid(gpuwhy("doctor", "--json", environment=machine("healthy_h200", "mig.txt")).stdout)
    assert "mig-no-instance" not in causes(document)


def test_a_vgpu_without_its_licence():
    document = valid(gpuwhy("doctor", "--json", environment=machine("healthy_h200", "vgpu.txt")).stdout)
    finding = next(one for one in document["findings"] if one["cause"] == "vgpu-unlicensed")
    assert finding["severity"] == "warning" and finding["evidence"][0]["value"] == "Unlicensed"


def test_a_linux_driver_inside_wsl(tmp_path):
    root = tmp_path / "wsl"
    shutil.copytree(ROOTS / "wsl", root, symlinks=True)
    environment = {"GPUWHY_ROOT": str(root)}
    assert "wsl-libcuda-shadowed" not in causes(valid(gpuwhy("doctor", "--json", environment=environment).stdout))
    shutil.copy(root / "usr/lib/wsl/lib/libcuda.so.1", root / "usr/lib/x86_64-linux-gnu/libcuda.so.1")
    (root / "etc/ld.so.conf.d/ld.wsl.conf").rename(root / "etc/ld.so.conf.d/zz.wsl.conf")
    assert "wsl-libcuda-shadowed" in causes(valid(gpuwhy("doctor", "--json", environment=environment).stdout))


def test_every_path_tried_is_named():
    text = gpuwhy("doctor", environment={**machine("no_gpu"), "PATH": "/usr/bin:/odd/folder"}).stdout
    assert "/odd/folder/nvidia-smi" in text and "/usr/lib/wsl/lib/nvidia-smi" in text
    assert "/usr/lib/wsl/lib/libnvidia-ml.so.1" in text and "/usr/lib/x86_64-linux-gnu/libcuda.so.1" in text


def test_a_toolkit_that_is_not_on_path():
    environment = {**machine("toolkit_off_path", "h200_idle.txt"), "PATH": "/usr/bin:/bin"}
    text = one_line(gpuwhy("doctor", environment=environment).stdout)
    assert re.search(r"installed but not on PATH: add /usr/local/cuda\S*/bin", text)
    assert "CUDA_HOME not set" in text
    document = valid(gpuwhy("doctor", "--json", environment=environment).stdout)
    assert "toolkit-not-on-path" in causes(document)
    text = one_line(gpuwhy("doctor", environment={**environment, "CUDA_HOME": "/usr/local/cuda-9.9"}).stdout)
    assert "/usr/local/cuda-9.9 does not exist" in text


def test_a_build_without_cuda(python):
    environment = machine("healthy_h200", "h200_idle.txt")
    result = gpuwhy("doctor", "--python", python(), environment=environment)
    assert result.returncode == 1 and "2.9.0+cpu is built without CUDA" in one_line(result.stdout)
    document = valid(gpuwhy("doctor", "--json", "--python", python("other"), environment=environment).stdout)
    assert "cpu-only-framework-build" in causes(document) and document["verdict"]["gpu_used"] == "unknown"


@pytest.mark.parametrize(
    "built, words",
    [
        ("'13.2'", "minor version compatibility"),
        ("'14.0'", "the driver offers only CUDA 13.0"),
        ("'11.8'", "built for CUDA 11.8"),
    ],
)
def test_minor_versions(python, built, words):
    text = one_line(
        gpuwhy(
            "doctor", "--python", python(version="2.9.0", cuda=built), environment=machine("healthy_h200", "h200_idle.txt")
        ).stdout
    )
    assert words in text
    assert ("offers only" in text) == (built == "'14.0'")


def test_what_is_no_python():
    result = gpuwhy(
        "doctor", "--python", "/no/such/python", "--python", "/bin/true", environment=machine("healthy_h200", "h200_idle.txt")
    )
    text = one_line(result.stdout)
    assert "Python /no/such/python [?] interpreter cannot be told" in text
    assert "/bin/true does not answer as a Python interpreter" in text


def test_a_shell_that_hides_the_gpus():
    environment = {**machine("healthy_h200", "h200_idle.txt"), "CUDA_VISIBLE_DEVICES": ""}
    assert "unset CUDA_VISIBLE_DEVICES" in one_line(gpuwhy("doctor", environment=environment).stdout)


def test_chinese():
    text = gpuwhy("doctor", "--lang", "zh", environment=machine("no_gpu")).stdout
    assert "任何程序都无法使用" in text and "[问题]" in text and "{{" not in text


def shared(python, *arguments, environment=None):
    private = {"USER": "annalena", "LOGNAME": "annalena", "HOSTNAME": "workstation7.example.org", "HOME": str(python.parents[2])}
    return gpuwhy(
        "doctor",
        "--share",
        "--python",
        python,
        *arguments,
        environment={**machine("healthy_h200", "h200_busy.txt"), **private, **(environment or {})},
    )


def test_a_shared_block_tells_nobody_who(python):
    interpreter = python("annalena private project")
    result = shared(interpreter)
    assert result.returncode == 1 and result.stdout.startswith("**gpuwhy doctor**") and "```json" in result.stdout
    text = result.stdout.lower()
    names = {
        "annalena",
        "workstation7",
        "private project",
        str(interpreter.parents[2]).lower(),
        socket.gethostname().lower(),
        getpass.getuser().lower(),
    } - {"root", "localhost"}
    for name in names:
        assert not re.search(r"(?<![a-z0-9])" + re.escape(name) + r"(?![a-z0-9])", text), name
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", text)
    assert not re.search(r"serial\W+\d", text)
    for path in set(re.findall(r"(?<![\w\]/:])/[\w.+-]+", text)):
        assert path in {"/usr", "/lib", "/lib64", "/dev", "/proc", "/sys", "/etc", "/bin", "/opt", "/run", "/boot", "/sbin"}, path


@pytest.mark.parametrize("form", ["plain", "quoted", "html", "crlf", "wrapped"])
def test_a_shared_block_is_read_back(python, tmp_path, form):
    block = shared(python()).stdout
    wanted = block.partition("```text\n")[2].partition("```")[0].splitlines()
    assert len(wanted) > 10
    post = "Hello, can anybody help?\n\n" + block + '\nThanks!\n{"not": "ours"}\n'
    if form == "quoted":
        post = "".join(f"> > {line}\n" for line in post.splitlines())
    elif form == "html":
        post = post.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    elif form == "crlf":
        post = post.replace("\n", "\r\n")
    elif form == "wrapped":
        post = "\n".join(re.sub(r"(.{60}[^ ]*) ", r"\1\n", line) if line.startswith("{") else line for line in post.splitlines())
    path = tmp_path / "post.md"
    path.write_text(post, newline="")
    result = gpuwhy("explain", path)
    assert result.returncode == 1 and all(line in result.stdout for line in wanted), result.stderr
    document = valid(gpuwhy("explain", path, "--json").stdout)
    assert document["verdict"]["gpu_used"] == "unknown" and "cpu-only-framework-build" in causes(document)
    assert not [gap for gap in document["gaps"] if "line of the session" in gap["what"]]
    assert document["subject"]["gpus"][0]["name"] == "NVIDIA H200"


def test_share_is_markdown_alone(python):
    for arguments in (["--json"], ["--format", "text"]):
        result = shared(python(arguments[-1]), *arguments)
        assert result.returncode == 2 and "Markdown" in result.stderr and result.stderr.count("\n") == 1


def test_a_block_without_its_data_is_read_as_a_text(python, tmp_path):
    path = tmp_path / "cut.md"
    path.write_text(shared(python()).stdout.partition("```json")[0])
    result = gpuwhy("explain", path, "--json")
    assert result.returncode in (0, 1)
    assert valid(result.stdout)["verdict"]["gpu_used"] != "yes"


def test_this_machine():
    """Whatever this machine is, doctor answers, and its answer is a valid report."""
    result = gpuwhy("doctor", "--json", environment={"HOME": os.environ.get("HOME", "/")})
    assert result.returncode in (0, 1), result.stderr
    document = valid(result.stdout)
    assert document["verdict"]["gpu_used"] in ("no", "unknown")
