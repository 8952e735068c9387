# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Loaded by the interpreter's site module because gpuwhy put this folder in front of PYTHONPATH.

Loads the agent, takes the folder off sys.path and lets the sitecustomize that would have run without gpuwhy run
(the user's own, or the one of the distribution). Must parse and stay silent on Python 2.7, which gets the chain only.
"""
import os
import sys


def _load():
    """The agent package, or None where gpuwhy did not ask for it or it cannot be loaded."""
    if sys.version_info < (3, 6) or not os.environ.get("GPUWHY_SPOOL") or os.environ.get("GPUWHY_DISABLE") == "1":
        return None
    try:
        import gpuwhy_agent
        return gpuwhy_agent
    except Exception:  # whatever is wrong with the agent, the job must start as without it
        return None


def _leave_path():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != here]
    sys.path_importer_cache.pop(here, None)


def _chain():
    """Imports the next sitecustomize of sys.path; an error in it travels on to site, which reports it as usual."""
    ours = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        # Python 2.7 has no `name`: there the message is all that tells a missing module from a broken one.
        missing = getattr(error, "name", None) or str(error).split(" ")[-1]
        if missing != "sitecustomize":
            raise
        # The import system looks the finished module up by name: it has to be there.
        sys.modules["sitecustomize"] = ours


_agent = _load()
_leave_path()
try:
    _chain()
finally:
    if _agent is not None:
        _agent.install()
