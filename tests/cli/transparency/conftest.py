# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the transparency tests; see transparency_support.py for what they are made of."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from transparency_support import PROGRAM, Pair  # noqa: E402


def pytest_collection_modifyitems(items):
    if os.access(PROGRAM, os.X_OK):
        return
    for item in items:
        if pathlib.Path(__file__).parent in pathlib.Path(str(item.fspath)).parents:
            item.add_marker(pytest.mark.skip(reason=f"NO PROGRAM TO TEST: {PROGRAM} is missing; build it or set GPUWHY_BIN"))


@pytest.fixture
def pair(tmp_path):
    return Pair(tmp_path)
