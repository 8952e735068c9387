# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Tells the CUDA library in the same process where this interpreter's own CUPTI lies."""
import os
import sys


def cupti_dirs():
    """Folders with libcupti.so* of the packages on sys.path (nvidia/cu13/lib, nvidia/cuda_cupti/lib) and of conda."""
    found = []
    for entry in list(sys.path):
        try:
            parts = os.listdir(os.path.join(entry, "nvidia"))
        except OSError:
            continue
        for part in sorted(parts):
            if part.startswith("cu"):
                _add(found, os.path.join(entry, "nvidia", part, "lib"))
    if os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
        _add(found, os.path.join(sys.prefix, "lib"))
    return found


def _add(found, folder):
    try:
        if folder not in found and any(name.startswith("libcupti.so") for name in os.listdir(folder)):
            found.append(folder)
    except OSError:
        pass


def export_cupti_dirs():
    folders = cupti_dirs()
    if folders:
        os.environ["GPUWHY_CUPTI_DIRS"] = ":".join(folders)
