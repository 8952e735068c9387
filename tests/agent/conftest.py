# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the agent's tests; see agent_support.py for what they are made of."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from agent_support import Job, build_agent  # noqa: E402


@pytest.fixture(scope="session")
def agent(tmp_path_factory):
    return build_agent(tmp_path_factory.mktemp("agent") / "agent")


@pytest.fixture
def job(agent, tmp_path):
    return Job(agent, tmp_path)


@pytest.fixture
def make_job(tmp_path):
    """A job with an agent of its own, whose files the test may damage."""
    def make():
        return Job(build_agent(tmp_path / "agent"), tmp_path)
    return make
