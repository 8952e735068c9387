# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""The framework witness of gpuwhy: lives in the user's Python job, uses the standard library only.

Rules of this package: it imports nothing that the job did not import but the standard library; no exception of it reaches
the job; it starts no thread outside a window that gpuwhy asked for; a forked child writes nothing until it execs.
"""

VERSION = "0.1.0"


def install():
    """Arms the agent in this process. Never raises."""
    try:
        from gpuwhy_agent import core
        core.install()
    except Exception:  # fail open: the job runs on without us
        pass
