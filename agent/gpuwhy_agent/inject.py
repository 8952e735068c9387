# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Calls into gpuwhy's CUDA library, if the CUDA driver has loaded it into this process."""
import os

CLOSE_MS = 500

_state = {"library": None}


def mapped(fragment):
    """Is a file whose path contains the text mapped into this process?"""
    with open("/proc/self/maps", "rb") as maps:
        return fragment.encode() in maps.read()


def _library():
    """The library, only if the driver has loaded it already: we never load it ourselves."""
    path = os.environ.get("CUDA_INJECTION64_PATH", "")
    if _state["library"] is None and path and mapped(os.path.basename(path)):
        import ctypes
        library = ctypes.CDLL(path)
        if hasattr(library, "gpuwhy_inject_close"):
            _state["library"] = library
    return _state["library"]


def close():
    """Waits up to half a second until CUPTI is free for the job's own profiler."""
    library = _library()
    if library is not None:
        library.gpuwhy_inject_close(CLOSE_MS)
