#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Checks by #include and import that dependencies point one way (docs/architecture.md).

usage: check_layers.py [--root DIR] [--self-test]
Prints FILE:LINE: message for every violation; exit status 1 when there is one.
"""
import argparse
import ast
import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = (".cc", ".h", ".c", ".cu")
CODE = ("base", "model", "knowledge", "witness", "reader", "engine", "rules", "report", "session", "cli")
# What a layer may include beside itself. knowledge/ holds generated tables of facts and depends on nothing.
MAY_INCLUDE = {
    "base": (),
    "knowledge": (),
    "model": ("base",),
    "witness": ("base", "model", "knowledge"),
    "reader": ("base", "model", "knowledge"),
    "engine": ("base", "model", "knowledge"),
    "report": ("base", "model"),
    "rules": ("base", "model", "engine", "knowledge"),
    "session": ("base", "model", "knowledge", "witness", "reader", "engine", "report"),
    "cli": ("base", "model", "knowledge", "witness", "reader", "engine", "report", "session"),
    "wire": (),
    "inject": ("wire",),
}
SPLIT = ("witness", "reader", "report")  # layers whose sub-folders are siblings that never see each other
MAY_USE_WIRE = ("witness/cuda", "witness/framework", "inject")
OWNERS = {"fmt": "base", "nlohmann": "base", "CLI": "cli"}
PORTABLE = ("model", "engine", "rules")  # no operating system headers
NO_IO = ("model",)
IO_HEADERS = ("cstdio", "stdio.h", "fstream", "iostream", "filesystem", "thread", "mutex", "condition_variable")
FORBIDDEN = re.compile(r"^(cuda|cupti|nvml|nvToolsExt|generated_cuda)[A-Za-z_0-9]*\.h$")
C_HEADERS = (
    "assert.h errno.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h stdarg.h stdbool.h stddef.h "
    "stdint.h stdio.h stdlib.h string.h time.h wchar.h"
).split()
OS_HEADERS = (
    "dirent.h dlfcn.h elf.h execinfo.h fcntl.h glob.h grp.h link.h poll.h pthread.h pwd.h sched.h semaphore.h spawn.h "
    "strings.h syscall.h termios.h ucontext.h unistd.h malloc.h ifaddrs.h netdb.h pty.h features.h langinfo.h "
    "windows.h winsock2.h ws2tcpip.h psapi.h tlhelp32.h pdh.h pdhmsg.h winternl.h io.h direct.h process.h conio.h "
    "shellapi.h dxgi.h dxgi1_4.h dxgi1_6.h evntrace.h tdh.h winevt.h winioctl.h setupapi.h cfgmgr32.h "
    "intrin.h immintrin.h x86intrin.h"
).split()
OS_PREFIXES = ("sys/", "linux/", "netinet/", "arpa/", "net/", "asm/", "bits/")


def layer_of(path, root):
    """(layer, unit) of a file; the unit of src/witness/nvml/x.cc is witness/nvml, that of src/witness/x.h witness."""
    parts = path.relative_to(root).parts
    parts = parts[1:] if parts[0] == "src" else parts
    layer = parts[0]
    return layer, f"{layer}/{parts[1]}" if layer in SPLIT and len(parts) > 2 else layer


def target_of(include, unit):
    """(layer, unit) of an include path, or None when it names no folder of the project."""
    parts = include.split("/")
    if len(parts) == 1:
        return unit.split("/")[0], unit
    if parts[0] not in MAY_INCLUDE:
        return None
    return parts[0], f"{parts[0]}/{parts[1]}" if parts[0] in SPLIT and len(parts) > 2 else parts[0]


def project_fault(layer, unit, include):
    """Why this include of the project's own header is not allowed, or None."""
    if ".." in include.split("/"):
        return f'"{include}": write the path from src/, not a relative one'
    target = target_of(include, unit)
    if target is None:
        return f'"{include}": no such layer; vendor headers are included with <>'
    other, other_unit = target
    if other == "wire":
        allowed = layer == "wire" or unit in MAY_USE_WIRE
        return None if allowed else f'"{include}": only {", ".join(MAY_USE_WIRE)} may include wire/'
    if other == layer:
        if other_unit in (unit, layer):
            return None
        return f'"{include}": {unit} and {other_unit} are siblings'
    if other not in MAY_INCLUDE[layer]:
        return f'"{include}": {layer} must not depend on {other}'
    if layer == "cli" and other_unit != other:
        return f'"{include}": only session wires single sources and outputs together'
    return None


def is_system(include):
    """(part of the language, part of an operating system)."""
    language = include in C_HEADERS or ("/" not in include and not include.endswith(".h"))
    system = include in OS_HEADERS or include.startswith(OS_PREFIXES)
    return language, system


def outside_fault(layer, include, owners):
    """Why this <header> is not allowed here, or None; `owners` collects who includes which vendor header."""
    language, system = is_system(include)
    if layer in NO_IO and include in IO_HEADERS:
        return f"<{include}>: {layer} does no input or output"
    if layer in PORTABLE and system:
        return f"<{include}>: {layer} has no operating system headers"
    if language or system:
        return None
    if FORBIDDEN.match(include):
        return f"<{include}>: own declarations only (…_abi.h); a build needs no vendor package"
    vendor = include.split("/")[0]
    owner = OWNERS.get(vendor) or owners.setdefault(vendor, layer)
    return None if owner == layer else f"<{include}>: {vendor} belongs to {owner} alone"


def check_file(path, root, owners):
    """Yields (line, message) for a C++ file."""
    layer, unit = layer_of(path, root)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            include = match[2]
            fault = project_fault(layer, unit, include) if match[1] == '"' else outside_fault(unit, include, owners)
            if fault:
                yield number, fault


def check_agent(path, own):
    """Yields (line, message) for imports of the agent beyond the standard library and its own modules."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            top = name.split(".")[0]
            if top not in sys.stdlib_module_names and top not in own:
                yield node.lineno, f"import {name}: the agent imports the standard library only; look in sys.modules"


def check(root):
    """All violations of a tree as printable lines."""
    faults, owners = [], {}
    folders = [root / "src" / name for name in CODE] + [root / "inject", root / "wire"]
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.suffix in SUFFIXES:
                faults += [f"{path.relative_to(root)}:{line}: {text}" for line, text in check_file(path, root, owners)]
    for folder in sorted((root / "src").iterdir()) if (root / "src").is_dir() else ():
        if folder.is_dir() and folder.name not in CODE:
            faults.append(f"src/{folder.name}:0: unknown layer; name it in tools/check_layers.py and docs/architecture.md")
    agent = sorted((root / "agent").rglob("*.py"))
    own = {path.stem for path in agent} | {path.parent.name for path in agent} | {"gpuwhy_wire"}
    for path in agent:
        faults += [f"{path.relative_to(root)}:{line}: {text}" for line, text in check_agent(path, own)]
    return faults


PLANTED = {
    "src/base/clock.h": ('#include "model/metric.h"', "base must not depend on model"),
    "src/model/time.cc": ("#include <sys/time.h>", "no operating system headers"),
    "src/model/write.cc": ("#include <fstream>", "no input or output"),
    "src/engine/a.cc": ('#include "report/reporter.h"', "engine must not depend on report"),
    "src/rules/a.cc": ('#include "witness/witness.h"', "rules must not depend on witness"),
    "src/witness/nvml/a.cc": ('#include "witness/os/proc.h"', "are siblings"),
    "src/witness/os/b.cc": ('#include "wire/wire.h"', "may include wire/"),
    "src/witness/witness.cc": ('#include "witness/nvml/nvml.h"', "are siblings"),
    "src/reader/kineto/a.cc": ("#include <nlohmann/json.hpp>", "belongs to base alone"),
    "src/report/json/a.cc": ("#include <fmt/format.h>", "belongs to base alone"),
    "src/report/html/a.cc": ('#include "../json/a.h"', "not a relative one"),
    "src/session/a.cc": ("#include <CLI/CLI.hpp>", "belongs to cli alone"),
    "src/session/b.cc": ('#include "cli/run.h"', "session must not depend on cli"),
    "src/cli/a.cc": ('#include "report/json/json.h"', "only session wires"),
    "src/witness/nvml/b.cc": ("#include <nvml.h>", "own declarations only"),
    "inject/a.cc": ('#include "base/result.h"', "inject must not depend on base"),
    "agent/hook.py": ("import torch", "standard library only"),
    "src/helpers/a.cc": ("", "unknown layer"),
}
ALLOWED = {
    "src/base/format.cc": "#include <fmt/format.h>\n#include <unistd.h>",
    "src/model/metric.h": '#include <vector>\n#include "base/result.h"',
    "src/witness/cuda/cuda.cc": '#include "wire/wire.h"\n#include "witness/witness.h"\n#include "model/metric.h"',
    "src/session/run.cc": '#include "witness/cuda/cuda.h"\n#include "report/reporter.h"',
    "src/rules/gpu_in_use.cc": '#include "engine/rule.h"\n#include <string>',
    "inject/inject.cc": '#include "wire/wire.h"\n#include "cupti_abi.h"\n#include <pthread.h>',
    "agent/sitecustomize.py": "import os\nimport clock",
    "agent/clock.py": "import time",
}


def self_test():
    """Plants each violation alone in a clean tree: every one must be found, the clean tree must pass."""
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in ALLOWED.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + "\n", encoding="utf-8")
        failures += [f"allowed tree: {fault}" for fault in check(root)]
        for name, (text, expected) in PLANTED.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + "\n", encoding="utf-8")
            faults = check(root)
            if len(faults) != 1 or expected not in faults[0]:
                failures.append(f"{name}: expected one fault with '{expected}', got {faults}")
            (root / name).unlink()
            if not any((root / name).parent.iterdir()):
                (root / name).parent.rmdir()
    return failures


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true", help="plant violations and see that they are found")
    options = parser.parse_args(arguments)
    faults = self_test() if options.self_test else check(options.root.resolve())
    for fault in faults:
        print(fault, file=sys.stderr)
    if options.self_test and not faults:
        print(f"{len(PLANTED)} planted violations found, {len(ALLOWED)} allowed files accepted")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
