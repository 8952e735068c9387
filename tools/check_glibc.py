#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Fails if an ELF file needs a glibc symbol version above MAX, or any C++ runtime version.

usage: check_glibc.py FILE MAX        e.g. check_glibc.py libgpuwhy_inject.so 2.17
"""

import re
import subprocess
import sys


def number(text):
    return tuple(int(part) for part in text.split("."))


def main():
    if len(sys.argv) != 3 or not re.fullmatch(r"\d+(\.\d+)+", sys.argv[2]):
        raise SystemExit(__doc__)
    path, limit = sys.argv[1], number(sys.argv[2])
    # readelf wraps nothing with -W; its text is translated unless the locale is C.
    run = subprocess.run(
        ["readelf", "--dyn-syms", "-W", path], capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    )
    if run.returncode != 0 or "Symbol table" not in run.stdout:
        raise SystemExit(f"check_glibc: cannot read the dynamic symbols of {path}: {run.stderr.strip() or 'none found'}")
    bad, seen = [], 0
    for line in run.stdout.splitlines():
        match = re.search(r"\bUND\s+(\w+)@+(GLIBC|GLIBCXX|CXXABI|GCC)_([\w.]+)", line)
        if not match:
            continue
        seen += 1
        symbol, family, version = match.groups()
        if family != "GLIBC" or version == "PRIVATE" or number(version) > limit:
            bad.append(f"{symbol}@{family}_{version}")
    if bad:
        raise SystemExit(f"check_glibc: {path} needs more than GLIBC_{sys.argv[2]}: {', '.join(sorted(bad))}")
    if seen == 0:
        raise SystemExit(f"check_glibc: {path} has no versioned symbol at all, nothing was checked")
    print(f"check_glibc: {path}: {seen} symbols, none above GLIBC_{sys.argv[2]}")


if __name__ == "__main__":
    main()
