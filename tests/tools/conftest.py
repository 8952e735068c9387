# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
